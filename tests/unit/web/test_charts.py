from backend.web.charts import shares_figure


def test_names_are_shown_as_they_are() -> None:
    """Plotly makes links of `<a href>` in names of traces and ticks."""
    link = '<a href="https://evil.example">R&D</a>'
    trace = {"type": "bar", "name": link, "x": [link, 1], "customdata": [[link, None]], "hovertemplate": "%{x}<br>"}
    (shown,) = shares_figure([trace], "light", {})["data"]
    text = '&lt;a href="https://evil.example"&gt;R&amp;D&lt;/a&gt;'
    assert shown == {**trace, "name": text, "x": [text, 1], "customdata": [[text, None]]}
