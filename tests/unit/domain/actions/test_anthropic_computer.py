from backend.domain.actions.anthropic_computer import AnthropicComputer
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import ScreenView
from backend.domain.ports.agent import CoordinateFrame


class TestTools:
    def test_an_older_tool_is_told_the_size_of_the_picture(self) -> None:
        view = ScreenView(width=960, height=540, right=960, bottom=540, screen_width=1920, screen_height=1080)
        sight = CoordinateFrame(screen=ScreenSize(width=1920, height=1080), view=view)
        space = AnthropicComputer(AnthropicComputer.Params(version="20251124", zoom=True))
        (tool,) = space.tools(sight)
        assert tool.vendor == {
            "type": "computer_20251124",
            "name": "computer",
            "display_width_px": 960,
            "display_height_px": 540,
            "enable_zoom": True,
        }

    def test_the_toolset_finds_the_size_by_itself(self) -> None:
        (tool,) = AnthropicComputer().tools(CoordinateFrame(screen=ScreenSize(width=640, height=480)))
        assert tool.vendor == {"type": "computer_toolset_20260801", "configs": {"zoom": {"enabled": False}}}
