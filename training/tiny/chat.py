"""The chat format: `<s>` once, then `<|role|>content</s>` for each message.

Every other file takes the format from here, so that the training data, the template inside the model
files and the evaluation cannot drift apart.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import TypedDict

SPECIAL_TOKENS = ["<unk>", "<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>"]
UNK, BOS, EOS, SYSTEM, USER, ASSISTANT = range(6)
ROLE_TOKENS = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}

CHAT_TEMPLATE = (
    "{{ '<s>' }}"
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '</s>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


class Message(TypedDict):
    """One turn of a conversation."""

    role: str
    content: str


Encode = Callable[[str], list[int]]


def encode_chat(encode: Encode, messages: Sequence[Message]) -> tuple[list[int], int]:
    """The tokens of a conversation, and how many of them are prompt.

    Learned is what comes after the prompt: the content of the last message, the assistant's, and the `</s>`
    that closes it. The role token in front of it is given at inference, so it is prompt; and answers earlier
    in a conversation are no examples to follow: some of them are there to be repaired.
    """
    prompt = encode_prompt(encode, messages[:-1])
    return [*prompt, *encode(messages[-1]["content"]), EOS], len(prompt)


def encode_prompt(encode: Encode, messages: Sequence[Message]) -> list[int]:
    """The tokens of a conversation up to the place where the assistant's answer begins."""
    turns = [[ROLE_TOKENS[message["role"]], *encode(message["content"]), EOS] for message in messages]
    return [BOS, *itertools.chain.from_iterable(turns), ASSISTANT]
