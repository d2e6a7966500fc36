/* The C loops that one would write, and OpenBLAS, timed on request.
 *
 * Compiled with -O3 -march=native -ffast-math, so that the compiler may reorder
 * sums as it likes. A request is a line "who operation n length nanoseconds"; the
 * answer is the nanoseconds of one call, over as many calls as take that long, or
 * "none". Requests from elsewhere in between leave the caches as they find them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 8, ENTRIES = 200000 };

static long n, length, columns;
static double *x, *y, *values, *out;
static int32_t *rows;
static volatile double result;
static double lanes[LANES] = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9};

static double (*ddot)(int, const double *, int, const double *, int);
static void (*daxpy)(int, double, const double *, int, double *, int);
static void (*dscal)(int, double, double *, int);
static double (*dnrm2)(int, const double *, int);
static double (*dasum)(int, const double *, int);

static void blas_dot(void) { result = ddot(n, x, 1, y, 1); }
static void blas_axpy(void) { daxpy(n, 1e-9, x, 1, y, 1); }
static void blas_scal(void) { dscal(n, 1.0000001, x, 1); }
static void blas_nrm2(void) { result = dnrm2(n, x, 1); }
static void blas_asum(void) { result = dasum(n, x, 1); }

__attribute__((noinline)) static double dot(const double *x, const double *y, long n) {
	double s = 0;
	for (long i = 0; i < n; i++) s += x[i] * y[i];
	return s;
}

__attribute__((noinline)) static void axpy(double a, const double *restrict x, double *restrict y, long n) {
	for (long i = 0; i < n; i++) y[i] += a * x[i];
}

__attribute__((noinline)) static double dot_indexed(const double *v, const int32_t *r, const double *y, long n) {
	double s = 0;
	for (long k = 0; k < n; k++) s += v[k] * y[r[k]];
	return s;
}

/* Four sums by hand, out of the compiler's hands: gathers lose here. */
__attribute__((noinline, optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
static double dot_indexed_4(const double *v, const int32_t *r, const double *y, long n) {
	double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
	long k = 0;
	for (; k + 4 <= n; k += 4) {
		s0 += v[k] * y[r[k]];
		s1 += v[k + 1] * y[r[k + 1]];
		s2 += v[k + 2] * y[r[k + 2]];
		s3 += v[k + 3] * y[r[k + 3]];
	}
	for (; k < n; k++) s0 += v[k] * y[r[k]];
	return (s0 + s2) + (s1 + s3);
}

/* One chain of additions, as the language has it. */
__attribute__((noinline, optimize("no-tree-vectorize", "no-associative-math", "no-unroll-loops")))
static double dot_indexed_naive(const double *v, const int32_t *r, const double *y, long n) {
	double s = 0;
	for (long k = 0; k < n; k++) s += v[k] * y[r[k]];
	return s;
}

__attribute__((noinline)) static void axpy_indexed(double a, const double *v, const int32_t *r, double *y, long n) {
	for (long k = 0; k < n; k++) y[r[k]] += a * v[k];
}

__attribute__((noinline)) static void dot_lanes(const double *v, const int32_t *r, const double *y, double *restrict s, long n) {
	double t[LANES] = {0};
	for (long k = 0; k < n; k++) {
		const double *e = y + LANES * (long)r[k];
		for (int l = 0; l < LANES; l++) t[l] += v[k] * e[l];
	}
	memcpy(s, t, sizeof t);
}

__attribute__((noinline)) static void axpy_lanes(const double *a, const double *v, const int32_t *r, double *restrict y, long n) {
	for (long k = 0; k < n; k++) {
		double *e = y + LANES * (long)r[k];
		for (int l = 0; l < LANES; l++) e[l] += a[l] * v[k];
	}
}

#define COLUMNS(call) for (long c = 0; c < columns; c++) { const double *v = values + c * length; const int32_t *r = rows + c * length; call; }
static void loop_dot(void) { result = dot(x, y, n); }
static void loop_axpy(void) { axpy(1e-9, x, y, n); }
static void loop_dot_indexed(void) { COLUMNS(out[c] = dot_indexed(v, r, y, length)) }
static void loop_dot_indexed_4(void) { COLUMNS(out[c] = dot_indexed_4(v, r, y, length)) }
static void loop_dot_indexed_naive(void) { COLUMNS(out[c] = dot_indexed_naive(v, r, y, length)) }
static void loop_axpy_indexed(void) { COLUMNS(axpy_indexed(1e-9, v, r, y, length)) }
static void loop_dot_lanes(void) { COLUMNS(dot_lanes(v, r, y, out + LANES * c, length)) }
static void loop_axpy_lanes(void) { COLUMNS(axpy_lanes(lanes, v, r, y, length)) }

static const struct { const char *who, *operation; void (*run)(void); void *needs; } table[] = {
	{"openblas", "Dot", blas_dot, &ddot}, {"openblas", "Axpy", blas_axpy, &daxpy}, {"openblas", "Scal", blas_scal, &dscal},
	{"openblas", "Nrm2", blas_nrm2, &dnrm2}, {"openblas", "Asum", blas_asum, &dasum},
	{"gcc", "Dot", loop_dot, NULL}, {"gcc", "Axpy", loop_axpy, NULL},
	{"gcc", "DotIndexed", loop_dot_indexed, NULL}, {"gcc4", "DotIndexed", loop_dot_indexed_4, NULL}, {"naive", "DotIndexed", loop_dot_indexed_naive, NULL},
	{"gcc", "AxpyIndexed", loop_axpy_indexed, NULL}, {"gcc", "DotLanes", loop_dot_lanes, NULL}, {"gcc", "AxpyLanes", loop_axpy_lanes, NULL},
};

static uint64_t state;
static long draw(long below) { /* xorshift64*, as in operations.go */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (long)((state * 0x2545F4914F6CDD1D >> 33) % (uint64_t)below);
}

static double *vector(long size, double value) {
	double *v = aligned_alloc(64, (8 * size + 63) / 64 * 64);
	for (long i = 0; i < size; i++) v[i] = value;
	return v;
}

static void prepare(void) {
	free(x), free(y), free(values), free(out), free(rows);
	x = y = values = out = NULL, rows = NULL;
	if (length == 0) {
		x = vector(n, 1), y = vector(n, 2);
		for (long i = 0; i < n; i++) x[i] += (i & 7) / 8.0;
		return;
	}
	columns = ENTRIES / length, state = n + length;
	y = vector(LANES * n, 1), values = vector(columns * length, 1.5), out = vector(LANES * columns, 0);
	rows = malloc(sizeof *rows * columns * length);
	for (long c = 0, at = 0; c < columns; c++)
		for (long k = 0; k < length; k++, at++) {
			long from = k * n / length, to = (k + 1) * n / length;
			rows[at] = (int32_t)(from + draw(to - from));
		}
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * t.tv_sec + t.tv_nsec;
}

static double measure(void (*run)(void), double least) {
	run();
	for (long calls = 1;;) {
		double start = now();
		for (long i = 0; i < calls; i++) run();
		double took = now() - start;
		if (took >= least) return took / calls;
		double grow = took > 0 ? 1.2 * least / took : 2;
		calls = (long)(calls * (grow > 100 ? 100 : grow < 1.2 ? 1.2 : grow)) + 1;
	}
}

int main(void) {
	char who[32], operation[32];
	long size, entries;
	double least;
	void *blas = dlopen("libopenblas.so.0", RTLD_NOW);
	if (!blas) blas = dlopen("libopenblas.so", RTLD_NOW);
	if (blas) {
		*(void **)&ddot = dlsym(blas, "cblas_ddot");
		*(void **)&daxpy = dlsym(blas, "cblas_daxpy");
		*(void **)&dscal = dlsym(blas, "cblas_dscal");
		*(void **)&dnrm2 = dlsym(blas, "cblas_dnrm2");
		*(void **)&dasum = dlsym(blas, "cblas_dasum");
	}
	char *(*config)(void) = blas ? (char *(*)(void))dlsym(blas, "openblas_get_config") : NULL;
	printf("gcc %s; %s\n", __VERSION__, config ? config() : "no OpenBLAS");
	fflush(stdout);
	while (scanf("%31s %31s %ld %ld %lf", who, operation, &size, &entries, &least) == 5) {
		if (size != n || entries != length) n = size, length = entries, prepare();
		void (*run)(void) = NULL;
		for (size_t i = 0; i < sizeof table / sizeof *table; i++)
			if (!strcmp(table[i].who, who) && !strcmp(table[i].operation, operation) && (!table[i].needs || *(void **)table[i].needs))
				run = table[i].run;
		if (run) printf("%.6g\n", measure(run, least));
		else printf("none\n");
		fflush(stdout);
	}
	return 0;
}
