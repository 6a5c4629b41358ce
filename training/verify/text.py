"""Conversations as text, written without the code that wrote the files."""

from typing import Any

Turn = dict[str, Any]

START, END = "<|im_start|>", "<|im_end|>"


def chatml(turns: list[Turn]) -> str:
    """Turns without tools as ChatML, the last one open where it is the model's own."""
    partial = turns[-1]["role"] == "assistant"
    closed = turns[:-1] if partial else turns
    text = "".join(f"{START}{turn['role']}\n{turn['content']}{END}\n" for turn in closed)
    return f"{text}{START}assistant\n{turns[-1]['content'] if partial else ''}"
