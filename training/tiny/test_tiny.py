"""Tests against cases worked out by hand. `make -C training test` runs them."""

import importlib.util
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

from chat import ASSISTANT, BOS, EOS, USER, encode_chat, encode_prompt
from data import Corpus, find_prefixes, packed_batch, padded_batch
from export import deinterleave, interleave, read_gguf, write_gguf, write_hugging_face
from measures import area_under_curve, balanced_accuracy, calibration_error, wilson
from model import Block, Config, Tiny, positions_of
from tokenizer import (
    CHARACTERS,
    FIRST_BYTE,
    CachedEncoder,
    Vocabulary,
    build_vocabulary,
    check_encoders,
    hugging_face_backend,
    train_merges,
)
from train import Documents, Settings, learning_rate

SMALL = Config(vocabulary=371, dim=32, layers=2, heads=2, hidden=32, context=64)


def small_model() -> Tiny:
    """A model with random weights, norms too."""
    torch.manual_seed(3)
    model = Tiny(SMALL)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, mean=float(weight.dim() == 1), std=0.2)
    return model.eval()


def small_vocabulary() -> Vocabulary:
    """As many pieces as the small model has embeddings."""
    merged = ["ab", "abc", "bc", "▁a", "▁ab", "c▁", "\nb", "cd", "abcd", "de"]
    return build_vocabulary(merged[: SMALL.vocabulary - len(build_vocabulary([]).pieces)])


def small_corpus() -> Corpus:
    """Three documents with the same beginning and one without."""
    documents = [
        [1, 4, 7, 7, 9, 5, 20, 2],
        [1, 4, 7, 7, 8, 8, 5, 21, 22, 2],
        [1, 4, 7, 7, 6, 5, 2],
        [1, 4, 30, 5, 31, 2],
    ]
    lengths = [len(document) for document in documents]
    return Corpus(
        tokens=np.concatenate(documents).astype(np.uint16),
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        prompts=np.array([6, 7, 6, 4], np.uint16),
        tasks=np.zeros(4, np.uint8),
        names=["some"],
        prefixes=[np.empty(0, np.int64), np.array([1, 4, 7, 7])],
        groups=np.array([1, 1, 1, 0], np.uint8),
    )


class TokenizerTest(unittest.TestCase):
    """Merging pieces as llama.cpp does."""

    def test_best_score_first(self) -> None:
        # bc is merged before ab, so `abc` becomes a + bc, for a + bc is no piece; ab alone is merged.
        vocabulary = build_vocabulary(["bc", "ab"])
        self.assertEqual([vocabulary.pieces[t] for t in vocabulary.encode("abcab")], ["a", "bc", "ab"])
        # The other way round ab comes first, and what is left is c.
        vocabulary = build_vocabulary(["ab", "bc"])
        self.assertEqual([vocabulary.pieces[t] for t in vocabulary.encode("abc")], ["ab", "c"])

    def test_merges_of_merges_and_spaces(self) -> None:
        vocabulary = build_vocabulary(["ab", "▁ab", "▁ab\n"])
        self.assertEqual([vocabulary.pieces[t] for t in vocabulary.encode(" ab\nab")], ["▁ab\n", "ab"])

    def test_leftmost_of_equals(self) -> None:
        vocabulary = build_vocabulary(["aa"])
        self.assertEqual([vocabulary.pieces[t] for t in vocabulary.encode("aaa")], ["aa", "a"])

    def test_bytes_for_unknown_characters(self) -> None:
        vocabulary = build_vocabulary([])
        self.assertEqual(vocabulary.encode("é"), [FIRST_BYTE + 0xC3, FIRST_BYTE + 0xA9])
        self.assertEqual(vocabulary.decode([FIRST_BYTE + 0xC3, FIRST_BYTE + 0xA9]), "é")

    def test_encoders_agree(self) -> None:
        texts = {"Numbers: 4 9 10 13": 40, "Numbers: 4 9 10\nWrite the step.": 60, "Write the step.\n\nabc abc": 30}
        merged, trained = train_merges(texts, len(CHARACTERS) + 302)
        vocabulary = build_vocabulary(merged)
        self.assertGreater(len(merged), 20)
        check_encoders(vocabulary, trained, [*texts, "the stestep 9 1 ßNumbers", "  Write  "])

    def test_all_pairs_are_named(self) -> None:
        vocabulary = build_vocabulary(["ab", "bc", "abc"])
        self.assertEqual(vocabulary.merges(), [("a", "b"), ("b", "c"), ("a", "bc"), ("ab", "c")])
        self.assertEqual(hugging_face_backend(vocabulary).encode("abc").tokens, ["abc"])

    def test_stretches_end_where_nothing_is_merged(self) -> None:
        encoder = CachedEncoder(build_vocabulary(["ab", "b▁"]))
        self.assertEqual(list(encoder.stretches("abb acab")), ["ab", "b ", "a", "c", "ab"])


class ChatTest(unittest.TestCase):
    """The chat format."""

    def test_only_the_last_answer_is_learned(self) -> None:
        messages = [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c"},
            {"role": "assistant", "content": "de"},
        ]
        a, b, c, d, e = 10, 11, 12, 13, 14
        tokens, prompt = encode_chat(lambda text: [ord(x) - ord("a") + 10 for x in text], messages)
        self.assertEqual(tokens, [BOS, USER, a, EOS, ASSISTANT, b, EOS, USER, c, EOS, ASSISTANT, d, e, EOS])
        self.assertEqual(tokens[prompt:], [d, e, EOS])

    def test_prompt_ends_with_the_role(self) -> None:
        prompt = encode_prompt(lambda _: [9], [{"role": "user", "content": "a"}])
        self.assertEqual(prompt, [BOS, USER, 9, EOS, ASSISTANT])


class DataTest(unittest.TestCase):
    """Batches: what is predicted where."""

    def test_targets_of_padded_rows(self) -> None:
        batch = padded_batch(small_corpus(), np.array([0, 1, 3]), rows=8, balance=0.0)
        # The one without a shared beginning, the beginning, and two rows that go on from it.
        self.assertEqual(batch.blocks, [Block(1, 8), Block(1, 4), Block(2, 8, prefix=1)])
        self.assertEqual(sorted(batch.targets.tolist()), sorted([20, 2, 21, 22, 2, 31, 2]))
        before = {0: [5, 20], 1: [5, 21, 22], 3: [5, 31]}
        for document, tokens in before.items():
            self.assertEqual(batch.tokens[batch.places[batch.documents == document]].tolist(), tokens)

    def test_weights_balance_documents(self) -> None:
        batch = padded_batch(small_corpus(), np.array([0, 1]), rows=8, balance=1.0)
        for document in (0, 1):
            self.assertAlmostEqual(float(batch.weights[batch.documents == document].sum()), 1.0, places=6)

    def test_packed_rows_hold_whole_documents(self) -> None:
        batch = packed_batch(small_corpus(), np.array([0, 1, 2, 3]), width=16, count=1, balance=0.0)
        # 8 tokens of the first fit and 10 of the second do not: the row is full.
        self.assertEqual(batch.tokens.tolist(), [1, 4, 7, 7, 9, 5, 20, 2] + [EOS] * 8)
        self.assertEqual(batch.targets.tolist(), [20, 2])

    def test_shared_beginnings_are_found(self) -> None:
        start = [1, 4, *range(40, 50)]
        documents = [[*start, i, 5, 60, 2] for i in (7, 8, 9)] + [[1, 4, 11, 5, 2], [1, 4, 12, 5, 2]]
        tokens = np.concatenate(documents).astype(np.uint16)
        starts = np.cumsum([0] + [len(document) for document in documents])
        prefixes, groups = find_prefixes(tokens, starts, np.array([14, 14, 14, 4, 4]))
        self.assertEqual([prefix.tolist() for prefix in prefixes], [[], start])
        self.assertEqual(groups.tolist(), [1, 1, 1, 0, 0])

    def test_documents_come_once_an_epoch(self) -> None:
        documents = Documents(10, seed=1)
        first = [int(i) for _ in range(4) for i in documents.take(3)]
        self.assertEqual(sorted(first), list(range(10)))
        resumed = Documents(10, seed=1, taken=3)
        self.assertEqual(resumed.take(3).tolist(), first[3:6])


class ModelTest(unittest.TestCase):
    """The forward pass."""

    def test_blocks_with_a_prefix_equal_whole_sequences(self) -> None:
        model = small_model()
        prefix, rows = torch.tensor([1, 9, 8]), torch.tensor([[5, 6, 7, 8], [9, 3, 1, 2]])
        blocks = [Block(1, 3), Block(2, 4, prefix=0)]
        self.assertEqual(positions_of(blocks).tolist(), [0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6])
        flat = model(torch.cat([prefix, rows.flatten()]), blocks, torch.arange(3, 11)).view(2, 4, -1)
        whole = model.logits(torch.cat([prefix.expand(2, -1), rows], 1))[:, 3:]
        torch.testing.assert_close(flat, whole, rtol=1e-5, atol=1e-5)

    def test_cache_equals_whole_sequences(self) -> None:
        model = small_model()
        rows, cache = torch.randint(0, SMALL.vocabulary, (3, 9)), model.empty_cache()
        whole = model.logits(rows)
        torch.testing.assert_close(model.step(rows[:, :4], cache), whole[:, 3], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(model.step(rows[:, 4:8], cache), whole[:, 7], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(model.step(rows[:, 8:], cache), whole[:, 8], rtol=1e-5, atol=1e-5)

    def test_nothing_is_seen_that_comes_later(self) -> None:
        model = small_model()
        one, other = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[5, 6, 9, 10]])
        torch.testing.assert_close(model.logits(one)[:, :2], model.logits(other)[:, :2])


class ExportTest(unittest.TestCase):
    """What is written for others."""

    def test_order_of_rotary_pairs(self) -> None:
        # One head of four components: 0 turns with 2 and 1 with 3, so they become neighbours.
        rows = torch.arange(4.0)[:, None]
        self.assertEqual(interleave(rows, 1).flatten().tolist(), [0, 2, 1, 3])
        both = torch.arange(16.0).view(8, 2)
        self.assertTrue(torch.equal(deinterleave(interleave(both, 2), 2), both))

    def test_gguf_gives_the_same_logits_to_an_independent_reader(self) -> None:
        spec = importlib.util.spec_from_file_location("logits", Path(__file__).parent.parent / "verify" / "logits.py")
        logits = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(logits)
        model, vocabulary = small_model(), small_vocabulary()
        tokens = [1, 4, 100, 300, 2, 5, 350]
        with tempfile.TemporaryDirectory() as folder:
            for kind, tolerance in (("f16", 2e-3), ("q8_0", 3e-2)):
                path = Path(folder) / f"{kind}.gguf"
                write_gguf(path, model, vocabulary, kind)
                theirs = logits.GgufModel(path).logits(tokens)
                self.assertLess(logits.difference(model.logits(torch.tensor([tokens]))[0].detach(), theirs), tolerance)
                again, read = read_gguf(path)
                self.assertLess(logits.difference(again.logits(torch.tensor([tokens]))[0].detach(), theirs), 1e-5)
                self.assertEqual(read.pieces, vocabulary.pieces)

    def test_transformers_gives_the_same_logits_and_prompt(self) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        model, vocabulary = small_model(), small_vocabulary()
        rows = torch.randint(0, SMALL.vocabulary, (2, 12))
        messages = [{"role": "system", "content": "ab cd"}, {"role": "user", "content": "abc\nbc é 12"}]
        with tempfile.TemporaryDirectory() as folder:
            write_hugging_face(Path(folder), model, vocabulary)
            llama = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
            tokenizer = AutoTokenizer.from_pretrained(folder)
        torch.testing.assert_close(llama(rows).logits, model.logits(rows), rtol=1e-4, atol=1e-4)
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)["input_ids"]
        self.assertEqual(prompt, encode_prompt(vocabulary.encode, messages))


class MeasuresTest(unittest.TestCase):
    """The numbers of an evaluation."""

    def test_wilson(self) -> None:
        # 8 of 10 with z = 2: (0.8 + 0.2 ± 2 √(0.016 + 0.01)) / 1.4 = (1 ± 0.322490) / 1.4
        low, high = wilson(8, 10, z=2.0)
        self.assertAlmostEqual(low, 0.483936, places=5)
        self.assertAlmostEqual(high, 0.944636, places=5)
        self.assertEqual(wilson(0, 10)[0], 0.0)

    def test_calibration(self) -> None:
        # Bin 0: 0.05 and 0.05 with one hit of two, gap |0.1 − 1|; bin 9: 1.0 with a hit, gap 0; mean 0.9 / 3.
        self.assertAlmostEqual(calibration_error([0.05, 0.05, 1.0], [True, False, True]), 0.3)

    def test_area_under_curve(self) -> None:
        # Pairs (0.9, 0.5), (0.9, 0.1), (0.5, 0.5) a tie, (0.5, 0.1): 3.5 of 4.
        self.assertEqual(area_under_curve([0.9, 0.5, 0.5, 0.1], [True, True, False, False]), 0.875)
        self.assertIsNone(area_under_curve([0.5], [True]))

    def test_balanced_accuracy(self) -> None:
        self.assertEqual(balanced_accuracy(["a", "a", "a", "b"], ["a", "a", "a", "a"]), 0.5)


class ScheduleTest(unittest.TestCase):
    """The learning rate over the time."""

    def test_up_constant_down(self) -> None:
        settings = Settings.__new__(Settings)
        settings.lr, settings.warm_up, settings.decay = 1.0, 0.1, 0.5
        rates = [learning_rate(progress, settings) for progress in (0.05, 0.1, 0.4, 0.75, 1.0)]
        np.testing.assert_allclose(rates, [0.5, 1.0, 1.0, 0.5, 0.0])


if __name__ == "__main__":
    unittest.main()
