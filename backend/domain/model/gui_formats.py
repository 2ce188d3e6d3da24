"""Names of the formats in which native GUI models write actions; `backend/domain/actions/gui_model.py` reads them."""

from typing import Literal

GuiFormat = Literal[
    "ui_tars", "ui_tars_1_5", "ui_tars_2", "os_atlas", "aguvis", "showui", "uground", "qwen2_5_vl", "qwen3_vl"
]
