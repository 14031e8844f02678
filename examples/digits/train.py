#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the classifier of handwritten digits: 64 - 64 - 32 - 10 with relu, by Adam on the cross-entropy. Needs NumPy alone.

    train.py                         writes the weights beside itself (some seconds)
    train.py --data digits.csv.gz    first makes images.npy and labels.npy of the file that scikit-learn ships
    train.py --accuracy              trains nothing: the accuracy of the weights that are there

Weights are stored as (inputs, outputs). The first 1347 images are for training and calibration, the last 450 for the test.
The seed is fixed; the last bits of the weights depend on the matrix product of the NumPy at hand, so the committed files are
the ones that tests speak of.
"""
import argparse
import gzip
import pathlib

import numpy as np

folder = pathlib.Path(__file__).resolve().parent
sizes = [64, 64, 32, 10]
training = 1347


def import_data(path):
    rows = np.loadtxt(gzip.open(path), delimiter=",")
    assert rows.shape == (1797, 65)
    np.save(folder / "images.npy", rows[:, :64].astype(np.uint8))
    np.save(folder / "labels.npy", rows[:, 64].astype(np.uint8))


def forward(x, weights):
    """The inputs of every layer, and the scores."""
    values = [x]
    for number, (w, b) in enumerate(weights):
        y = values[-1] @ w + b
        values.append(np.maximum(y, 0) if number + 1 < len(weights) else y)
    return values


def gradients(x, label, weights):
    values = forward(x, weights)
    shifted = values[-1] - values[-1].max(axis=1, keepdims=True)
    probability = np.exp(shifted)
    probability /= probability.sum(axis=1, keepdims=True)
    probability[np.arange(len(label)), label] -= 1
    error = probability / len(label)
    found = [None] * len(weights)
    for number in reversed(range(len(weights))):
        found[number] = (values[number].T @ error, error.sum(axis=0))
        error = (error @ weights[number][0].T) * (values[number] > 0)
    return found


def moved(x, random):
    """Every image now and then by a pixel, so that the network learns shapes and not places."""
    images = np.zeros((len(x), 10, 10), np.float32)
    images[:, 1:9, 1:9] = x.reshape(-1, 8, 8)
    rows, columns = random.choice([0, 1, 1, 1, 2], (2, len(x), 1, 1))
    step = np.arange(8)
    return images[np.arange(len(x))[:, None, None], rows + step[:, None], columns + step].reshape(-1, 64)


def train(x, label, random, epochs=120, batch=32, decay=3e-2):
    weights = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        w = np.ascontiguousarray(random.standard_normal((outputs, inputs)).T, np.float32) * np.float32(np.sqrt(2 / inputs))
        weights.append((w, np.zeros(outputs, np.float32)))
    first = [[np.zeros_like(part) for part in layer] for layer in weights]
    second = [[np.zeros_like(part) for part in layer] for layer in weights]
    step = 0
    for epoch in range(epochs):
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / epochs))
        order = random.permutation(len(x))
        for start in range(0, len(x), batch):
            chosen = order[start:start + batch]
            step += 1
            for number, found in enumerate(gradients(moved(x[chosen], random), label[chosen], weights)):
                for part, gradient in enumerate(found):
                    first[number][part] = 0.9 * first[number][part] + 0.1 * gradient
                    second[number][part] = 0.999 * second[number][part] + 0.001 * gradient * gradient
                    change = first[number][part] / (1 - 0.9**step) / (np.sqrt(second[number][part] / (1 - 0.999**step)) + 1e-8)
                    weights[number][part][...] -= rate * (change + decay * weights[number][part])
    return weights


def accuracy(x, label, weights):
    return (forward(x, weights)[-1].argmax(axis=1) == label).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--accuracy", action="store_true")
    options = parser.parse_args()
    if options.data:
        import_data(options.data)
    x = np.load(folder / "images.npy").astype(np.float32) / 16
    label = np.load(folder / "labels.npy").astype(int)
    if options.accuracy:
        weights = [(np.load(folder / f"w{n}.npy"), np.load(folder / f"b{n}.npy")) for n in range(1, len(sizes))]
    else:
        weights = train(x[:training], label[:training], np.random.default_rng(1797))
        for number, (w, b) in enumerate(weights, 1):
            np.save(folder / f"w{number}.npy", w)
            np.save(folder / f"b{number}.npy", b)
    print(f"training {accuracy(x[:training], label[:training], weights):.4f}, test {accuracy(x[training:], label[training:], weights):.4f}")


if __name__ == "__main__":
    main()
