"""Conversations as the chat template of Qwen2.5 writes them, read back into turns."""

import json
import re

from cases import expect, expect_equal
from text import END, START, Turn

#: What the template says where nobody has told the model what it is.
NOBODY = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."

_TURN = re.compile(r"<\|im_start\|>(\w+)\n(.*?)<\|im_end\|>\n", re.DOTALL)
_CALL = re.compile(r"\n?<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
_ANSWER = re.compile(r"^<tool_response>\n(.*)\n</tool_response>$", re.DOTALL)


def turns_of(text: str) -> tuple[list[Turn], list[str]]:
    """The turns of a text, and the names of the tools it offers. The text must be turns and nothing else."""
    turns, tools, place = [], [], 0
    for match in _TURN.finditer(text):
        expect_equal(match.start(), place, "the place where a turn begins")
        place = match.end()
        role, content = match.groups()
        if role == "system" and "\n\n# Tools\n" in content:
            content, _, offered = content.partition("\n\n# Tools\n")
            listed = offered.partition("<tools>\n")[2].partition("\n</tools>")[0]
            tools = [json.loads(line)["function"]["name"] for line in listed.splitlines()]
        if role == "system" and content == NOBODY:
            continue
        turns.append(_turn(role, content))
    expect_equal(text[place:], "", "what stands behind the last turn")
    return turns, tools


def _turn(role: str, content: str) -> Turn:
    answer = _ANSWER.match(content)
    if role == "user" and answer is not None:
        return {"role": "tool", "content": answer.group(1), "calls": []}
    calls = [json.loads(call) for call in _CALL.findall(content)]
    # What a tool is called with must be what the tree holds, not text that holds it.
    calls = [{"name": call["name"], "input": call["arguments"]} for call in calls]
    return {"role": role, "content": _CALL.sub("", content), "calls": calls}


def expect_prompt(text: str, wanted: list[Turn], tools: list[str]) -> None:
    """The text is the turns, and the beginning of one of the model."""
    expect(text.endswith(f"{START}assistant\n"), f"the prompt ends with {text[-40:]!r}")
    turns, offered = turns_of(text.removesuffix(f"{START}assistant\n"))
    expect_equal(turns, wanted, "the prompt")
    expect_equal(offered, tools, "the tools")


def expect_completion(text: str, wanted: list[Turn]) -> None:
    """The text goes on from the beginning of a turn of the model, and each turn is ended once."""
    expect_equal(turns_of(f"{START}assistant\n{text}")[0], wanted, "the completion")
    expect_equal(text.count(END), len(wanted), "the number of turns that are ended")
