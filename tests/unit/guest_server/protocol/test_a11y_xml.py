from xml.etree.ElementTree import fromstring

import pytest

from guest_server.protocol.a11y_xml import NAMESPACES, clean, element, put, to_text, xml_name


class TestXmlName:
    @pytest.mark.parametrize(
        ("text", "name"),
        [("push button", "push-button"), ("", "unknown"), ("1st", "_1st"), ("a:b/ü", "a-b--"), ("-x", "_-x")],
    )
    def test_roles_become_valid_xml_names(self, text: str, name: str) -> None:
        assert xml_name(text) == name


class TestClean:
    def test_drops_what_xml_cannot_carry(self) -> None:
        assert clean("a\x00b\x1bc\ufffcd\ud800e\n\t😀") == "abcde\n\t😀"


class TestToText:
    def test_the_document_is_read_back(self) -> None:
        root = element("push button", "OK & <go>\x01")
        put(root, "st", "focused", "true")
        put(root, "cp", "screencoord", (1, 2))
        read = fromstring(to_text(root))  # noqa: S314 - made here
        assert read.tag == "push-button"
        assert read.get("name") == "OK & <go>"
        assert read.get(f"{{{NAMESPACES['cp']}}}screencoord") == "(1, 2)"
        assert NAMESPACES["st"] == "https://accessibility.ubuntu.example.org/ns/state"
