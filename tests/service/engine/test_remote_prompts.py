from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AddedToken, AutoTokenizer, PreTrainedTokenizerFast

from service.engine.remote_prompts import ChatPrompts, RemotePrompt, TokenPrompts
from service.engine.tokens import PromptEncoder
from service.errors import EngineError
from service.prompts import Prompt
from tests.tiny_model import write_tokenizer

HEAD = "Clean the answer.\nANSWER:\n"
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' }}"
    "{{ m['content'] + '<|im_end|>\\n' }}{% endfor %}{{ '<|im_start|>assistant\\n' }}"
)
TYPED = [
    *("</s>", "<s>", "<unk>", "[INST]", "[/INST]", "[inst]", "<|im_start|>", "<|im_end|>"),
    *("<think>", "<", "|", "[", "]", "/", "im_end", "s>", " ", "\n", "\u200b", "\u2060", "é", "a"),
]
typed_text = st.lists(st.sampled_from(TYPED), max_size=20).map("".join)


@pytest.fixture(scope="module")
def mistral(tmp_path_factory: pytest.TempPathFactory) -> PromptEncoder:
    folder = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(folder)
    return PromptEncoder(AutoTokenizer.from_pretrained(folder))


@pytest.fixture(scope="module")
def chatml() -> PromptEncoder:
    """Bytes as tokens, special turn markers, and `<think>`, which is added but not special."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({letter: at for at, letter in enumerate(alphabet)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    backend.add_tokens([AddedToken("<think>", special=False)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|im_end|>")
    tokenizer.chat_template = CHATML
    return PromptEncoder(tokenizer)


@pytest.fixture(params=["mistral", "chatml"], scope="module")
def encoder(request: pytest.FixtureRequest) -> PromptEncoder:
    found: PromptEncoder = request.getfixturevalue(request.param)
    return found


def user_turn(written: RemotePrompt) -> str:
    content: str = written.body["messages"][0]["content"]
    return content


def controls(encoder: PromptEncoder, ids: list[int]) -> list[int]:
    return [token_id for token_id in ids if token_id in encoder.tokenizer.added_tokens_decoder]


@given(typed=typed_text)
def test_ids_hold_no_control_token_but_the_templates(encoder: PromptEncoder, typed: str) -> None:
    written = TokenPrompts(encoder).write(Prompt(HEAD, typed))
    template = [*encoder.before_ids, *encoder.after_ids]
    assert controls(encoder, written.body["prompt"]) == controls(encoder, template)
    assert written.tokens == len(written.body["prompt"])
    assert written.text == encoder.before + HEAD + typed + encoder.after


@given(typed=typed_text)
def test_a_chat_message_holds_no_control_string(encoder: PromptEncoder, typed: str) -> None:
    written = ChatPrompts(encoder).write(Prompt(HEAD, typed))
    turn = user_turn(written)
    assert not any(control.lower() in turn.lower() for control in encoder.control_strings)
    read = encoder.trusted_ids(encoder.before + turn + encoder.after)
    template = [*encoder.before_ids, *encoder.after_ids]
    assert controls(encoder, read) == controls(encoder, template)
    assert written.text == encoder.before + turn + encoder.after
    assert written.tokens == len(read)


@given(typed=typed_text)
def test_what_the_model_copies_is_what_the_student_typed(
    encoder: PromptEncoder, typed: str
) -> None:
    written = ChatPrompts(encoder).write(Prompt(HEAD, typed))
    assert written.restore(user_turn(written)) == HEAD + typed


def test_an_ordinary_answer_is_sent_as_it_is(encoder: PromptEncoder) -> None:
    prompt = Prompt(HEAD, "> a <b>bold</b> answer, x[0] < 3\n")
    assert user_turn(ChatPrompts(encoder).write(prompt)) == prompt.text


def test_control_strings_that_overlap_are_all_taken_apart(chatml: PromptEncoder) -> None:
    turn = user_turn(ChatPrompts(chatml).write(Prompt("", "<|im_<|im_end|>end|><think><|im_end|>")))
    assert turn == "<|im_<\u200b|im_end|>end|><\u200bthink><\u200b|im_end|>"


def test_a_student_who_types_the_separators_gets_another_one(mistral: PromptEncoder) -> None:
    typed = "\u200b\u2060\u200c\u200d\U000f0000 </s>"
    written = ChatPrompts(mistral).write(Prompt("", typed))
    assert user_turn(written) == typed.replace("</s>", "<\U000f0001/s>")
    assert written.restore("<\U000f0001/s>\u200b") == "</s>\u200b"


def test_a_tokenizer_that_undoes_the_separation_is_refused() -> None:
    from tokenizers import normalizers

    backend = Tokenizer(models.BPE({"a": 0, "<": 1}, []))
    backend.normalizer = normalizers.Replace("\u200b", "")
    backend.add_special_tokens([AddedToken("<end>", normalized=True, special=True)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>")
    tokenizer.chat_template = "{{ messages[0]['content'] }}<end>"
    with pytest.raises(EngineError, match="takes token ids"):
        ChatPrompts(PromptEncoder(tokenizer)).write(Prompt("", "a<end>"))


def test_many_threads_never_make_a_control_token(mistral: PromptEncoder) -> None:
    """The tokenizer is shared, and how it treats control strings is a state of it."""
    prompt = Prompt(HEAD, "</s> <s> " * 50)
    tokens, chat = TokenPrompts(mistral), ChatPrompts(mistral)
    expected = tokens.write(prompt)

    def write(at: int) -> RemotePrompt:
        chat.write(prompt)
        return tokens.write(prompt if at % 2 else Prompt(HEAD, "</s> <s> " * 50))

    with ThreadPoolExecutor(8) as threads:
        assert all(written == expected for written in threads.map(write, range(200)))
