"""Measures other libraries for the index benchmark: a JSON command per line on stdin, a JSON reply per line on stdout.

    {"do": "data", "base": FILE, "queries": FILE, "dim": 384}
    {"do": "build", "name": "wheel HNSW32", "threads": 1}      -> {"seconds": ..., "processor": ..., "version": ...}
    {"do": "search", "name": ..., "first": 0, "count": 64, "batch": 1, "threads": 1}
                                                              -> {"seconds": [per call], "processor": [per call], "labels": [[...], ...]}

Names are "wheel " and a factory string of faiss, or "usearch f32".
"""

import json
import sys
import time

import faiss
import numpy as np
import usearch
from usearch.index import Index

K = 10
data = {}
built = {}


def load(command):
    dim = command["dim"]
    data["base"] = np.fromfile(command["base"], dtype=np.float32).reshape(-1, dim)
    data["queries"] = np.fromfile(command["queries"], dtype=np.float32).reshape(-1, dim)
    built.clear()
    return {}


def build(command):
    library, kind = command["name"].split(" ", 1)
    base = data["base"]
    start, start_processor = time.perf_counter(), time.process_time()
    if library == "wheel":
        faiss.omp_set_num_threads(command["threads"])
        index = faiss.index_factory(base.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
        if not index.is_trained:
            index.train(base)
        index.add(base)
        if kind.startswith("HNSW"):
            index.hnsw.efSearch = 64
        if kind.startswith("IVF"):
            index.nprobe = max(8, int(index.nlist / 8))
        version = faiss.__version__
    else:
        index = Index(ndim=base.shape[1], metric="ip", dtype=kind, connectivity=32, expansion_add=40, expansion_search=64)
        index.add(np.arange(len(base), dtype=np.uint64), base, threads=command["threads"])
        version = usearch.__version__
    built[command["name"]] = index
    processor = time.process_time() - start_processor
    return {"seconds": time.perf_counter() - start, "processor": processor, "version": version}


def search(command):
    index = built[command["name"]]
    batch, threads = command["batch"], command["threads"]
    faiss.omp_set_num_threads(threads)
    wheel = command["name"].startswith("wheel")
    seconds, processor, labels = [], [], []
    for first in range(command["first"], command["first"] + command["count"], batch):
        queries = data["queries"][first : first + batch]
        start, start_processor = time.perf_counter(), time.process_time()
        if wheel:
            found = index.search(queries, K)[1]
        else:
            found = index.search(queries, K, threads=threads).keys
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - start_processor)
        labels.extend(np.asarray(found).reshape(len(queries), -1).tolist())
    return {"seconds": seconds, "processor": processor, "labels": labels}


for line in sys.stdin:
    command = json.loads(line)
    reply = {"data": load, "build": build, "search": search}[command["do"]](command)
    print(json.dumps(reply), flush=True)
