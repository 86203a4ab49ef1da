// The guest of ane-roundtrip check --wasm: it fills matrices in its own memory, has the engine multiply them, and reads
// the product through the pointer that it bound.
#include "../../../../../ane/wasm/include/anekit.h"

#define EXPORT(name) __attribute__((export_name(name)))

enum { side = 128, page = 16384, large = 16 << 20 };

typedef unsigned short half;

static half a[side * side] __attribute__((aligned(page)));
static half b[side * side] __attribute__((aligned(page)));
static half c[side * side] __attribute__((aligned(page)));
static half tensors[2][large / sizeof(half)] __attribute__((aligned(page)));
static char result[page] __attribute__((aligned(page)));

static int product, request, maximum, measure;

EXPORT("pointer") unsigned pointer(int i) { return (unsigned)(i == 0 ? a : i == 1 ? b : c); }

// value is a whole number from -2 to 2; all sums of 128 products of them are whole in fp16.
static int value(int matrix, int i, int seed) { return (i * 7 + i / side * 3 + matrix + seed) % 5 - 2; }

// half_of is a whole number of at most 2,048 as fp16.
static half half_of(int n) {
	half sign = n < 0 ? 0x8000 : 0;
	unsigned m = n < 0 ? -n : n, exponent = 25;
	if (m == 0)
		return sign;
	while (m < 1024) {
		m <<= 1;
		exponent--;
	}
	while (m >= 2048) {
		m >>= 1;
		exponent++;
	}
	return sign | exponent << 10 | (m & 1023);
}

EXPORT("open") int open(void) {
	int code;
	product = anekit_program_open("product", 7);
	if (product < 0)
		return product;
	request = anekit_request_open(product);
	if (request < 0)
		return request;
	if ((code = anekit_bind(request, "a", 1, a, sizeof a)) < 0)
		return code;
	if ((code = anekit_bind(request, "b", 1, b, sizeof b)) < 0)
		return code;
	if ((code = anekit_bind(request, "c", 1, c, sizeof c)) < 0)
		return code;
	return request;
}

EXPORT("fill") void fill(int seed) {
	for (int i = 0; i < side * side; i++) {
		a[i] = half_of(value(0, i, seed));
		b[i] = half_of(value(1, i, seed));
		c[i] = 0x7e00;
	}
}

EXPORT("evaluate") int evaluate(void) { return anekit_evaluate(request); }

// errors counts the elements of c that are not the product of a and b.
EXPORT("errors") int errors(int seed) {
	int wrong = 0;
	for (int row = 0; row < side; row++)
		for (int column = 0; column < side; column++) {
			int sum = 0;
			for (int k = 0; k < side; k++)
				sum += value(0, row * side + k, seed) * value(1, k * side + column, seed);
			half want = half_of(sum), got = c[row * side + column];
			wrong += got != want && !(sum == 0 && got == 0x8000);
		}
	return wrong;
}

// The same by the GPU: matrices of float32, and a kernel that changes a tensor of 16 MiB.
static float f[3][side * side] __attribute__((aligned(page)));

EXPORT("gpu_pointer") unsigned gpu_pointer(int i) { return (unsigned)f[i]; }

EXPORT("gpu_fill") void gpu_fill(int seed) {
	for (int i = 0; i < side * side; i++) {
		f[0][i] = value(0, i, seed);
		f[1][i] = value(1, i, seed);
		f[2][i] = -0.5f;
	}
}

EXPORT("gpu_product") int gpu_product(void) {
	struct anekit_range ranges[3];
	unsigned n = side;
	for (int i = 0; i < 3; i++)
		ranges[i] = (struct anekit_range){f[i], sizeof f[i]};
	return anekit_gpu_run("product", 7, ranges, 3, &n, sizeof n);
}

EXPORT("gpu_errors") int gpu_errors(int seed) {
	int wrong = 0;
	for (int row = 0; row < side; row++)
		for (int column = 0; column < side; column++) {
			int sum = 0;
			for (int k = 0; k < side; k++)
				sum += value(0, row * side + k, seed) * value(1, k * side + column, seed);
			wrong += f[2][row * side + column] != (float)sum;
		}
	return wrong;
}

// gpu_large computes 1*x + 0 on tensor i, in place.
EXPORT("gpu_large") int gpu_large(int i) {
	struct {
		unsigned words;
		float factor, offset;
	} push = {large / 4, 1, 0};
	struct anekit_range all = {tensors[i], large};
	struct anekit_range ranges[2] = {all, all};
	return anekit_gpu_run("scale", 5, ranges, 2, &push, sizeof push);
}

// gpu_beyond asks for a product that is larger than its ranges.
EXPORT("gpu_beyond") int gpu_beyond(void) {
	struct anekit_range ranges[3];
	unsigned n = side + 1;
	for (int i = 0; i < 3; i++)
		ranges[i] = (struct anekit_range){f[i], sizeof f[i]};
	return anekit_gpu_run("product", 7, ranges, 3, &n, sizeof n);
}

// cross calls the host n times; count does the same loop without the call.
EXPORT("cross") int cross(int n) {
	int sum = 0;
	for (volatile int i = 0; i < n; i++)
		sum += anekit_version();
	return sum;
}

EXPORT("count") int count(int n) {
	int sum = 0;
	for (volatile int i = 0; i < n; i++)
		sum++;
	return sum;
}

// The tensors of 16 MiB: bind_large makes a request on tensor i, end_large closes it.
EXPORT("fill_large") void fill_large(int i, int seed) {
	for (unsigned at = 0; at < large / sizeof(half); at++)
		tensors[i][at] = half_of((int)(at + seed) % 5 - 2);
}

EXPORT("bind_large") int bind_large(int i) {
	int code;
	if (maximum == 0)
		maximum = anekit_program_open("maximum", 7);
	if (maximum < 0)
		return maximum;
	measure = anekit_request_open(maximum);
	if (measure < 0)
		return measure;
	if ((code = anekit_bind(measure, "x", 1, tensors[i], large)) < 0)
		return code;
	return anekit_bind(measure, "y", 1, result, sizeof result);
}

EXPORT("evaluate_large") int evaluate_large(void) { return anekit_evaluate(measure); }

EXPORT("end_large") int end_large(void) { return anekit_request_close(measure); }
