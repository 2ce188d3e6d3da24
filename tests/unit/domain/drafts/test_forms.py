import pytest

from backend.domain import registry
from backend.domain.drafts.fields import fields_of
from backend.domain.drafts.forms import FORM_KINDS, form_of, forms
from backend.domain.errors import UnknownPlugin
from backend.domain.registry import PluginKind

registry.load()


class TestForms:
    @pytest.mark.parametrize("kind", FORM_KINDS)
    def test_nearly_every_plugin_says_its_parameters(self, kind: PluginKind) -> None:
        """The rest takes anything (`**options`), or refuses every use."""
        result = forms(kind, "starter")
        assert [form.name for form in result] == registry.names(kind, "starter")
        assert sum(form.schema is None for form in result) <= 8
        assert all(fields_of(form.schema) or form.schema for form in result)

    def test_the_dialect_s_own_comes_first(self) -> None:
        assert form_of(PluginKind.METRIC, "compare_text_file", "starter").dialect == "starter"
        assert form_of(PluginKind.METRIC, "exact_match", "starter").dialect == "common"

    def test_metric_form_has_docs_and_defaults(self) -> None:
        form = form_of(PluginKind.METRIC, "compare_text_file", "starter")
        assert form.expects is True
        fields = {field.name: field for field in fields_of(form.schema)}
        assert fields["ignore_case"].help == "ignore case."
        assert (fields["ignore_case"].widget, fields["ignore_case"].default) == ("boolean", "false")

    def test_unknown_name_is_refused(self) -> None:
        with pytest.raises(UnknownPlugin):
            form_of(PluginKind.GETTER, "vm_fil", "starter")
