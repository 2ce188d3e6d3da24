from typing import Any

import pytest
from pydantic import ValidationError

from worker.images.windows.options import WindowsBuildOptions


class TestOptions:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"user": "a:b"},
            {"user": " . "},
            {"user": "x" * 21},
            {"user": "Deskarena"},
            {"user": "USER"},
            {"also_home": ["A", "a"]},
            {"product_key": "AAAAA-BBBBB"},
            {"language": "english"},
            {"keyboard": "0409"},
            {"time_zone": "UTC & del"},
            {"firmware": "grub"},
            {"disk_gib": 8},
            {"editoin": "x"},
        ],
    )
    def test_refuses_what_windows_would_not_take(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            WindowsBuildOptions.model_validate(wrong)

    def test_does_not_show_key_and_password(self) -> None:
        shown = repr(
            WindowsBuildOptions.model_validate({"product_key": "AAAAA-" * 4 + "AAAAA", "password": "Secret-12"})
        )
        assert "AAAAA" not in shown
        assert "Secret-12" not in shown
