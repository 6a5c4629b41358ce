"""LLaMA-Factory reads a configuration as its command line does, and makes tokens of the dataset that it names.

    PYTHONPATH=<its packages>:<this folder> python guide_yaml.py settings.yaml
"""

import sys
from pathlib import Path

import yaml
from llama_factory import get_dataset, get_template_and_fix_tokenizer, get_train_args
from transformers import AutoTokenizer

if __name__ == "__main__":
    settings = yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))
    model, data, training, _, _ = get_train_args(settings)
    tokenizer = AutoTokenizer.from_pretrained(settings["model_name_or_path"])
    template = get_template_and_fix_tokenizer(tokenizer, data)
    rows = get_dataset(template, model, data, training, stage="rm", tokenizer=tokenizer)["train_dataset"]
    print(f"{len(rows)} rows")
    sys.exit(0 if len(rows) > 0 else 1)
