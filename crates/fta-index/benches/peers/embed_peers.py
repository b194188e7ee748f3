"""Programs that `cargo bench --bench embed` is compared with.

Takes one JSON command per line on standard input and gives one JSON line back:
`load` (paths, texts) says which peers are installed, `throughput` and `latency` measure one of them.
"""

import contextlib
import importlib.util
import json
import os
import pathlib
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"

WINDOW = 256
# The fastest of 1, 8, 32 and 64 for texts in the order of their lengths.
BATCH = 8


def installed(*names):
    return all(importlib.util.find_spec(name) for name in names)


def export(model, folder):
    """Makes the ONNX files: a plain export, and a copy whose products are of 8 bits, a scale per channel."""
    plain, small = folder / "f32.onnx", folder / "int8.onnx"
    folder.mkdir(parents=True, exist_ok=True)
    if not plain.exists():
        import torch
        from transformers import AutoModel

        encoder = AutoModel.from_pretrained(model, attn_implementation="eager").eval()

        class Plain(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder = encoder

            def forward(self, input_ids, attention_mask, token_type_ids):
                return self.encoder(
                    input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
                ).last_hidden_state

        names = ["input_ids", "attention_mask", "token_type_ids"]
        example = torch.ones(2, 16, dtype=torch.long)
        torch.onnx.export(
            Plain(),
            (example, example, torch.zeros_like(example)),
            str(plain.with_suffix(".part")),
            input_names=names,
            output_names=["states"],
            dynamic_axes={name: {0: "batch", 1: "length"} for name in [*names, "states"]},
            opset_version=17,
            dynamo=False,
        )
        plain.with_suffix(".part").rename(plain)
    if not small.exists():
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(
            str(plain), str(small.with_suffix(".part")), weight_type=QuantType.QInt8, per_channel=True
        )
        small.with_suffix(".part").rename(small)
    return {"onnxruntime f32": plain, "onnxruntime int8": small}


class Onnx:
    """Sorts by length, pads to the longest of a batch, takes the mean: what a user of onnxruntime writes."""

    def __init__(self, file, tokenizer, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        if threads == 1:
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self.tokenizer = tokenizer

    def embed(self, texts):
        import numpy

        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
        rows = [None] * len(texts)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            length = max(len(tokens[i]) for i in batch)
            ids = numpy.zeros((len(batch), length), numpy.int64)
            mask = numpy.zeros_like(ids)
            for row, i in enumerate(batch):
                ids[row, : len(tokens[i])] = tokens[i]
                mask[row, : len(tokens[i])] = 1
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            states = self.session.run(None, feed)[0]
            weights = mask[:, :, None].astype(numpy.float32)
            means = (states * weights).sum(1) / weights.sum(1)
            means /= numpy.linalg.norm(means, axis=1, keepdims=True)
            for row, i in enumerate(batch):
                rows[i] = means[row]
        return rows


class SentenceTransformers:
    def __init__(self, model, threads):
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        self.torch, self.threads = torch, threads
        self.encoder = SentenceTransformer(str(model), device="cpu")
        self.encoder.max_seq_length = WINDOW

    def embed(self, texts):
        self.torch.set_num_threads(self.threads)
        return self.encoder.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)


class Peers:
    def load(self, model, onnx, turns, queries):
        self.model, self.turns, self.queries = pathlib.Path(model), turns, queries
        self.files, self.made = {}, {}
        names = []
        if installed("onnxruntime", "numpy", "tokenizers"):
            from tokenizers import Tokenizer

            self.tokenizer = Tokenizer.from_file(str(self.model / "tokenizer.json"))
            self.tokenizer.no_padding()
            self.tokenizer.enable_truncation(WINDOW)
            folder = pathlib.Path(onnx)
            made = all((folder / name).exists() for name in ("f32.onnx", "int8.onnx"))
            if made or installed("torch", "transformers", "onnx"):
                self.files = export(self.model, folder)
                names += list(self.files)
        if installed("sentence_transformers"):
            names.append("sentence-transformers")
        return {"peers": names}

    def peer(self, name, threads):
        if (name, threads) not in self.made:
            if name in self.files:
                made = Onnx(self.files[name], self.tokenizer, threads)
            else:
                made = SentenceTransformers(self.model, threads)
            self.made[name, threads] = made
        return self.made[name, threads]

    def throughput(self, peer, threads):
        embedder = self.peer(peer, threads)
        embedder.embed(self.turns[:200])
        cpu, wall = time.process_time(), time.perf_counter()
        embedder.embed(self.turns)
        return {"cpu_seconds": time.process_time() - cpu, "wall_seconds": time.perf_counter() - wall}

    def latency(self, peer):
        embedder = self.peer(peer, 1)
        times = []
        for i, query in enumerate(self.queries):
            start = time.perf_counter()
            embedder.embed([query])
            if i >= len(self.queries) // 10:
                times.append((time.perf_counter() - start) * 1e3)
        times.sort()
        return {"p50": times[len(times) // 2], "p99": times[min(len(times) * 99 // 100, len(times) - 1)]}


def main():
    peers = Peers()
    # Libraries print to standard output; answers must stay alone there.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            question = json.loads(line)
            with contextlib.redirect_stdout(sys.stderr):
                answer = getattr(peers, question.pop("command"))(**question)
        except Exception as error:  # The other side decides what to do.
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
