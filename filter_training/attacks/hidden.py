"""Orders in places that a rendered page, document or program does not show."""

from __future__ import annotations

from random import Random

from filter_training.attacks.carried import any_order
from filter_training.attacks.family import Family
from filter_training.attacks.frames import Frame
from filter_training.attacks.order import Order
from filter_training.marked import Part
from service.exam import Question

_SEEN_CARRIERS = (
    Frame("html_comment", "<!-- ", " -->"),
    Frame("html_comment", "<!--", "-->"),
    Frame("css_hidden", '<div style="display:none">', "</div>"),
    Frame("css_hidden", '<span style="display: none;">', "</span>"),
    Frame("css_hidden", '<p style="visibility:hidden">', "</p>"),
    Frame("css_white", '<span style="color:white">', "</span>"),
    Frame("css_white", '<font color="#ffffff">', "</font>"),
    Frame("css_tiny", '<span style="font-size:0px">', "</span>"),
    Frame("html_hidden", "<div hidden>", "</div>"),
    Frame("markdown_comment", "[//]: # (", ")"),
    Frame("markdown_comment", "[comment]: <> (", ")"),
    Frame("markdown_title", '[source](https://example.org "', '")'),
    Frame("image_text", "![", "](x.png)"),
    Frame("latex_comment", "% "),
    Frame("latex_comment", "%% "),
    Frame("latex_white", r"\textcolor{white}{", "}"),
    Frame("latex_white", r"{\color{white} ", "}"),
    Frame("latex_iffalse", "\\iffalse\n", "\n\\fi"),
    Frame("c_comment", "/* ", " */"),
    Frame("c_comment", "// "),
    Frame("python_comment", "# "),
    Frame("docstring", '"""', '"""'),
    Frame("sql_comment", "-- "),
    Frame("html_attribute", '<img src="" alt="', '">'),
)
_HELD_OUT_CARRIERS = (
    Frame("css_offscreen", '<div style="position:absolute;left:-9999px">', "</div>"),
    Frame("css_opacity", '<p style="opacity:0">', "</p>"),
    Frame("css_class", '<span class="sr-only">', "</span>"),
    Frame("aria", '<span aria-label="', '"></span>'),
    Frame("html_template", "<template>", "</template>"),
    Frame("html_script", "<script>/* ", " */</script>"),
    Frame("html_meta", '<meta name="grading" content="', '">'),
    Frame("html_details", "<details><summary></summary>", "</details>"),
    Frame("input_hidden", '<input type="hidden" value="', '">'),
    Frame("latex_phantom", r"\phantom{", "}"),
    Frame("latex_comment_block", "\\begin{comment}\n", "\n\\end{comment}"),
    Frame("latex_tiny", r"{\fontsize{0.1}{0.1}\selectfont ", "}"),
    Frame("haskell_comment", "{- ", " -}"),
    Frame("lua_comment", "--[[ ", " ]]"),
    Frame("lisp_comment", ";; "),
    Frame("ocaml_comment", "(* ", " *)"),
    Frame("basic_comment", "REM "),
    Frame("matlab_comment", "%{\n", "\n%}"),
    Frame("rst_comment", ".. "),
    Frame("footnote", "[^9]: "),
    Frame("jinja_comment", "{# ", " #}"),
)


def _hidden_text(question: Question, random: Random, part: Part) -> Order:
    chosen = random.choice(_SEEN_CARRIERS if part is Part.SEEN else _HELD_OUT_CARRIERS)
    order, borrowed = any_order(question, random, part)
    return Order(chosen.around(order), chosen.carrier, divisible=False, borrowed=borrowed)


HIDDEN = (
    Family(
        "hidden_text",
        "orders in comments, hidden elements and link texts of HTML, Markdown, LaTeX and code",
        _hidden_text,
    ),
)
