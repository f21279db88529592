/* The network of Litwin-Kumar and Doiron (2012) in double precision: rates, CV and active clusters, from 0.5 s to 2 s.
   gcc -O2 -o clusters clusters.c -lm && ./clusters 8 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5000, NE = 4000, SIZE = 80, STEPS = 20000, SETTLE = 5000, BIN = 1000, VALUES = 4 };

static int *target[N], count[N];
static float *weight[N];
static double v[N], mu[N], rise_e[N], fall_e[N], rise_i[N], fall_i[N], exc[N], inh[N];
static double sum[N], squares[N];
static int last[N], intervals[N], in_bin[NE / SIZE];

static void build(void) {
	double k = sqrt(800), out = 10 / (15 * k), p_out = 800 / (SIZE * 1.5 + NE);
	for (int i = 0; i < N; i++) {
		count[i] = 0;
		target[i] = realloc(target[i], N * sizeof(int));
		weight[i] = realloc(weight[i], N * sizeof(float));
		for (int j = 0; j < N; j++) {
			double p = 0.5, w = i < NE ? 4 / (10 * k) : j < NE ? -16 * 1.2 / (15 * k) : -16 / (10 * k);
			if (i < NE && j < NE) {
				p = i / SIZE == j / SIZE ? 2.5 * p_out : p_out;
				w = i / SIZE == j / SIZE ? 1.9 * out : out;
			}
			if (i != j && drand48() < p) {
				target[i][count[i]] = j;
				weight[i][count[i]++] = w;
			}
		}
	}
}

static void run(double *found) {
	static double next_e[N], next_i[N];
	const double dt = 0.1;
	int spikes[2] = {0, 0}, active = 0, cvs = 0;
	double cv = 0;
	for (int i = 0; i < N; i++) {
		v[i] = drand48();
		mu[i] = i < NE ? 1.1 + 0.1 * drand48() : 1 + 0.05 * drand48();
		rise_e[i] = fall_e[i] = rise_i[i] = fall_i[i] = exc[i] = inh[i] = sum[i] = squares[i] = intervals[i] = 0;
		last[i] = -1000;
	}
	for (int t = 0; t < STEPS; t++) {
		memset(next_e, 0, sizeof next_e);
		memset(next_i, 0, sizeof next_i);
		for (int i = 0; i < N; i++) {
			rise_e[i] += exc[i] - dt * rise_e[i] / 1;
			fall_e[i] += exc[i] - dt * fall_e[i] / 3;
			rise_i[i] += inh[i] - dt * rise_i[i] / 1;
			fall_i[i] += inh[i] - dt * fall_i[i] / 2;
			if (t <= last[i] + 50)
				continue;
			v[i] += dt * ((mu[i] - v[i]) / (i < NE ? 15 : 10) + (fall_e[i] - rise_e[i]) / 2 + (fall_i[i] - rise_i[i]) / 1);
			if (v[i] <= 1)
				continue;
			v[i] = 0;
			if (t >= SETTLE) {
				spikes[i >= NE]++;
				if (i < NE)
					in_bin[i / SIZE]++;
				if (last[i] >= SETTLE) {
					sum[i] += t - last[i];
					squares[i] += (double)(t - last[i]) * (t - last[i]);
					intervals[i]++;
				}
			}
			last[i] = t;
			for (int m = 0; m < count[i]; m++)
				(i < NE ? next_e : next_i)[target[i][m]] += weight[i][m];
		}
		memcpy(exc, next_e, sizeof exc);
		memcpy(inh, next_i, sizeof inh);
		for (int k = 0; k < NE / SIZE && t % BIN == BIN - 1; k++) {
			active += in_bin[k] > 20 * SIZE / 10;
			in_bin[k] = 0;
		}
	}
	for (int i = 0; i < N; i++)
		if (intervals[i] >= 2) {
			double mean = sum[i] / intervals[i];
			cv += sqrt(fmax(0, squares[i] / intervals[i] - mean * mean)) / mean;
			cvs++;
		}
	found[0] = spikes[0] / (NE * 1.5);
	found[1] = spikes[1] / ((N - NE) * 1.5);
	found[2] = cv / cvs;
	found[3] = 100. * active / (NE / SIZE * 15);
}

int main(int argc, char **argv) {
	int seeds = argc > 1 ? atoi(argv[1]) : 8;
	double total[VALUES] = {0}, square[VALUES] = {0}, found[VALUES];
	for (int s = 1; s <= seeds; s++) {
		srand48(s);
		build();
		run(found);
		printf("seed %d: E %.3f Hz, I %.3f Hz, CV %.3f, active %.2f %%\n", s, found[0], found[1], found[2], found[3]);
		fflush(stdout);
		for (int k = 0; k < VALUES; k++) {
			total[k] += found[k];
			square[k] += found[k] * found[k];
		}
	}
	for (int k = 0; k < VALUES; k++) {
		double mean = total[k] / seeds;
		printf("%.3f sd %.3f\n", mean, sqrt((square[k] / seeds - mean * mean) * seeds / (seeds - 1)));
	}
}
