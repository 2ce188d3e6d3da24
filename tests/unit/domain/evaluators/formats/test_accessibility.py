import pytest

from backend.domain.errors import Invalid
from backend.domain.evaluators.formats.accessibility import Widget, widgets

UBUNTU = "https://accessibility.ubuntu.example.org/ns"
TREE = f"""<desktop-frame xmlns:st="{UBUNTU}/state" xmlns:cp="{UBUNTU}/component" xmlns:val="{UBUNTU}/value">
<application name="editor">
  <frame name="a.txt" st:active="true">
    <push-button name="Save" st:showing="true" st:sensitive="true" cp:screencoord="(10, 20)" cp:size="(30, 40)"/>
    <spin-button name="" st:showing="true" cp:screencoord="(-2147483648, 0)" cp:size="(1, 1)"
      val:value="2.0">2</spin-button>
  </frame>
  <frame name="b.txt"><label name="hidden"/></frame>
</application></desktop-frame>"""


def one(role: str) -> Widget:
    return next(widget for widget in widgets(TREE) if widget.role == role)


class TestWidgets:
    def test_name_states_and_rectangle(self) -> None:
        button = one("push-button")
        assert (button.name, button.rect) == ("Save", (10, 20, 30, 40))
        assert button.states == {"showing", "sensitive"}
        assert button.on_screen

    def test_where_it_is(self) -> None:
        assert (one("push-button").app, one("push-button").windows) == ("editor", ("a.txt",))
        assert one("push-button").in_active
        assert not one("label").in_active

    def test_text_and_value(self) -> None:
        assert (one("spin-button").text, one("spin-button").value) == ("2", 2.0)

    def test_a_widget_far_outside_is_not_on_the_screen(self) -> None:
        assert not one("spin-button").on_screen

    def test_other_namespaces_are_read_alike(self) -> None:
        assert widgets(TREE.replace(UBUNTU, "uri:deskat:x")) == widgets(TREE)

    @pytest.mark.parametrize("xml", ["", "<a", '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'])
    def test_what_is_no_plain_xml_is_refused(self, xml: str) -> None:
        with pytest.raises(Invalid, match="cannot be read"):
            widgets(xml)
