"""The model that the guides train: two layers, a vocabulary of bytes, and the template of `qwen_style.jinja`.

    python guide_model.py model
"""

import sys
from pathlib import Path

import toy

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    tokenizer = toy.tokenizer_of(["How many degrees are between the hands of a clock? The answer is 130."])
    toy.model_of(tokenizer).save_pretrained(folder)
    tokenizer.chat_template = (Path(__file__).parent / "qwen_style.jinja").read_text(encoding="utf-8")
    tokenizer.save_pretrained(folder)
