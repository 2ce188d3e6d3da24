import pytest

from backend.domain import registry
from backend.domain.drafts.fields import fields_of, typed_as, values_of
from backend.domain.drafts.forms import FORM_KINDS, form_of, forms
from backend.domain.errors import Invalid, UnknownPlugin
from backend.domain.registry import Kind

registry.load()


class TestForms:
    @pytest.mark.parametrize("kind", FORM_KINDS)
    def test_nearly_every_plugin_says_its_parameters(self, kind: Kind) -> None:
        """The rest takes anything (`**options`), or refuses every use."""
        found = forms(kind, "starter")
        assert [form.name for form in found] == registry.names(kind, "starter")
        assert sum(form.schema is None for form in found) <= 8
        assert all(fields_of(form.schema) or form.schema for form in found)

    def test_the_dialect_s_own_comes_first(self) -> None:
        assert form_of(Kind.METRIC, "compare_text_file", "starter").dialect == "starter"
        assert form_of(Kind.METRIC, "exact_match", "starter").dialect == "common"

    def test_a_metric_with_its_words(self) -> None:
        form = form_of(Kind.METRIC, "compare_text_file", "starter")
        assert form.expects is True
        fields = {field.name: field for field in fields_of(form.schema)}
        assert fields["ignore_case"].help == "upper and lower case are the same."
        assert (fields["ignore_case"].widget, fields["ignore_case"].default) == ("boolean", "false")

    def test_an_unknown_name(self) -> None:
        with pytest.raises(UnknownPlugin):
            form_of(Kind.GETTER, "vm_fil", "starter")


class TestFields:
    FIELDS = fields_of(
        {
            "properties": {
                "path": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                "count": {"type": "integer", "default": 2},
                "share": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                "exact": {"type": "boolean"},
                "how": {"enum": ["all", "any"]},
                "rules": {"type": "object"},
                "name": {"type": "string"},
            },
            "required": ["path"],
        }
    )

    def test_how_each_is_asked_for(self) -> None:
        assert {field.name: field.widget for field in self.FIELDS} == {
            "path": "text", "count": "number", "share": "number", "exact": "boolean", "how": "choice",
            "rules": "json", "name": "text",
        }  # fmt: skip

    def test_values_of_what_was_typed_and_back(self) -> None:
        typed = {
            "path": '["/a", "/b"]', "count": "3", "share": "0.5", "exact": "yes", "how": "any",
            "rules": '{"a": 1}', "name": "[1]",
        }  # fmt: skip
        values = values_of(self.FIELDS, typed)
        assert values == {
            "path": ["/a", "/b"], "count": 3, "share": 0.5, "exact": True, "how": "any", "rules": {"a": 1},
            "name": "[1]",
        }  # fmt: skip
        again = {field.name: typed_as(field, values) for field in self.FIELDS}
        assert values_of(self.FIELDS, again) == values

    def test_empty_leaves_the_default(self) -> None:
        assert values_of(self.FIELDS, {"path": "/a", "count": " "}) == {"path": "/a"}

    @pytest.mark.parametrize(
        ("typed", "path"),
        [
            ({}, "path"),
            ({"path": "/a", "count": "many"}, "count"),
            ({"path": "/a", "exact": "perhaps"}, "exact"),
            ({"path": "/a", "rules": "{"}, "rules"),
        ],
    )
    def test_says_which_field_is_wrong(self, typed: dict[str, str], path: str) -> None:
        with pytest.raises(Invalid) as told:
            values_of(self.FIELDS, typed)
        assert told.value.path == path

    def test_without_a_schema_it_is_one_object(self) -> None:
        fields = fields_of(None)
        assert values_of(fields, {"json": '{"a": [1]}'}) == {"a": [1]}
        assert values_of(fields, {}) == {}
        with pytest.raises(Invalid, match="JSON object"):
            values_of(fields, {"json": "[1]"})
