"""Draws the mean rate of each area of the multi-area model over time, from folders that `burst run` has written.

The model has an area of the genome for each population, such as V1-23E; those of one cortical area are put together,
each with its number of neurons. Usage, in a Python that has matplotlib:

    python area_rates.py runs/ground runs/metastable -o rates.png
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

MS_A_BURST = 0.1


def rates(folder: Path) -> dict[str, tuple[list[float], list[float]]]:
    """Times in ms and rates in Hz of each cortical area, whose populations are weighted by their neurons."""
    spikes: dict[str, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    neurons: dict[str, float] = {}
    with open(folder / "rates.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            ms, seconds = float(row["burst"]) * MS_A_BURST, float(row["bursts"]) * MS_A_BURST / 1000
            spikes[row["area"]][ms] += float(row["spikes"]) / seconds
            if float(row["rate_hz"]) > 0:
                neurons[row["area"]] = float(row["spikes"]) / seconds / float(row["rate_hz"])
    areas: dict[str, list[str]] = defaultdict(list)
    for population in neurons:
        areas[population.rsplit("-", 1)[0]].append(population)
    result = {}
    for area, populations in areas.items():
        times, size = sorted(spikes[populations[0]]), sum(neurons[p] for p in populations)
        result[area] = (times, [sum(spikes[p][t] for p in populations) / size for t in times])
    return result


def main() -> None:
    """Reads the command line and writes the picture: a column for each run, a line for each area."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs")
    parser.add_argument("--from-ms", type=float, default=0, help="where to begin")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the picture to write")
    args = parser.parse_args()
    import matplotlib.pyplot as plt

    figure, columns = plt.subplots(1, len(args.runs), figsize=(4.5 * len(args.runs), 6.5), squeeze=False, sharey=True)
    for axes, folder in zip(columns[0], args.runs, strict=True):
        drawn = {}
        for name, of in rates(folder).items():
            drawn[name] = [(ms, hz) for ms, hz in zip(*of, strict=True) if ms >= args.from_ms]
        names = list(drawn)
        most = max(hz for points in drawn.values() for _, hz in points)
        for i, points in enumerate(drawn.values()):
            base = len(names) - i
            heights = [base + 0.9 * hz / most for _, hz in points]
            axes.fill_between([ms for ms, _ in points], base, heights, color="C0", lw=0)
        axes.set_title(f"{folder.name}: the highest peak is {most:.0f} Hz")
        axes.set_xlabel("time (ms)")
    columns[0][0].set_yticks([len(names) - i for i in range(len(names))], names)
    figure.tight_layout()
    figure.savefig(args.output, dpi=90)
    print(f"wrote {args.output}")


if __name__ == "__main__":
    main()
