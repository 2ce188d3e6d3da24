import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.formats.text_numbers import MAX_TEXT, numbers_in

AMBIGUOUS = None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", 42),
        ("42.", 42),
        ("42,", 42),
        (".5", 0.5),
        ("-.5", -0.5),
        ("\N{MINUS SIGN}5", -5),
        ("\N{EN DASH}5", -5),
        ("is \N{MINUS SIGN} 5", -5),
        ("- 5", 5),  # An entry of a list.
        ("3 1\N{FRACTION SLASH}2", 3.5),
        ("-$42", -42),
        ("(-5)", -5),
        ("x=42", 42),
        ("total:42", 42),
        ("**42**", 42),
        ("1,234,567.5", 1234567.5),
        ("12,34,567", 1234567),
        ("1.234.567", 1234567),
        ("€1.234,56", 1234.56),
        ("1\N{NO-BREAK SPACE}234", 1234),
        ("1'234'567", 1234567),
        ("3.8e1", 38),
        ("5e\N{MINUS SIGN}3", 0.005),
        ("10^3", 1000),
        ("2**-1", 0.5),
        ("10²", 100),
        ("5×10²", 500),
        ("5 × 10^3", 5000),
        ("5 x 10^3", 5000),
        ("1/2", 0.5),
        ("3 1/2", 3.5),
        ("-3 1/2", -3.5),
        ("½", 0.5),
        ("-2½", -2.5),
        ("42 million", 42e6),
        ("42kg", 42),
        ("42%", 42),
        ("\N{LEFT-TO-RIGHT MARK}42\N{ZERO WIDTH NO-BREAK SPACE}", 42),
        ("42-year-old", 42),
        ("42/day", 42),
        ("\N{ARABIC-INDIC DIGIT FOUR}\N{ARABIC-INDIC DIGIT TWO}", 42),
        ("\N{ARABIC-INDIC DIGIT FOUR}\N{ARABIC DECIMAL SEPARATOR}\N{ARABIC-INDIC DIGIT TWO}", 4.2),
        ("1\N{ARABIC THOUSANDS SEPARATOR}234", 1234),
        ("\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH DIGIT FOUR}\N{FULLWIDTH DIGIT TWO}\N{FULLWIDTH PERCENT SIGN}", -42),
        ("₹42", 42),
        ("US$42", 42),
        ("$-42", -42),
        ("€ \N{MINUS SIGN}42", -42),
        ("42km/h", 42),
        ("42 m²", 42),
        ("42m³/s", 42),
        ("42 m^2", 42),
        ("minus 42", -42),
        ("-(42)", -42),
        ("2^(3)", 8),
        ("42 lakh", 42e5),
        ("3 dozen", 36),
        ("1,5 Mio.", None),
        ("42 Millionen", 42e6),
        ("42 тыс. рублей", 42e3),
        ("42 mn", None),
        ("42 k", None),
        ("293 K", 293),
        ("答案是42。", 42),
        ("结果：（42）", 42),
        ("一共42个", 42),
        ("负42", -42),
        ("温度は-42℃です", -42),
        ("3.5万元", 35e3),
        ("42百万", 42e6),
        ("42 千克", 42),
        ("42千", None),
        ("第42", None),
        ("42만 원", 42e4),
        ("‘42’", 42),
        ("it is 42—exactly", 42),
        ("$5 \\times 10^{-3}$", 0.005),
        ("\\boxed{\\frac{1}{2}}", 0.5),
        ("1\\,234\\%", 1234),
        ('<td class="a1">42</td>', 42),
        ("> 42", 42),
        ("=> 42", 42),
    ],
)
def test_number(text: str, number: float | None) -> None:
    assert list(numbers_in(text)) == [number if number is None else pytest.approx(number, rel=1e-12)]


@pytest.mark.parametrize(
    "text",
    [
        *("42,5", "1,2345", "0,123", "10 000", "1_000", "1.2.3", "2024-01-05", "10:30", "10-20", "5/6/7", "[1,2]"),
        *("v42", "COVID-19", "0x2A", "42nd", "42k", "--5", "±5", "6*7", "9^9^9", "42/0", "0^-1"),
        *("1e999", "10^99999999", "1^" + "9" * 5000, "²"),
        *("<42", ">42", "x > 42", "≤ 42", "≥42", "√42", "√(42)", "sqrt(42)", "log 42", "40—42", "-$-42", "四十二"),
    ],
)
def test_ambiguous(text: str) -> None:
    assert list(numbers_in(text)) == [AMBIGUOUS]


def test_several() -> None:
    assert list(numbers_in("3,000 and [1, 2], 6 × 7 = 42")) == [3000, 1, 2, AMBIGUOUS, 42]


@given(st.floats(-1e15, 1e15))
def test_as_python_writes_it(number: float) -> None:
    assert list(numbers_in(repr(number))) == [number]
    assert list(numbers_in(f"it is {number:,.2f}.")) == [float(f"{number:.2f}")]


def test_unread_text_may_contain_a_number() -> None:
    assert list(numbers_in("42" + " " * MAX_TEXT + "43")) == [42, AMBIGUOUS]


@given(st.text(alphabet="0123456789.,'-+^*/×x½² \n_eE:%$k<>(){}m负万。", max_size=30))
def test_anything(text: str) -> None:
    assert all(number is None or abs(number) < float("inf") for number in numbers_in(text))


@pytest.mark.parametrize(
    "text", ["1,", "1", "1/", "-", "1.111", "10^", "½", "a1", "1×10", "<", "minus ", "第", "负", "√("]
)
def test_long_texts_take_no_longer(text: str) -> None:
    assert len(list(numbers_in(text * 100_000))) <= 1
