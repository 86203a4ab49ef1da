#version 450

// C = A x B for matrices of n x n float32 in rows. Each invocation makes one element, and adds in the order of k, so
// that products of small integers are exact.
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, std430) readonly buffer A { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer C { float c[]; };

layout(push_constant) uniform Push { uint n; };

void main() {
	uint column = gl_GlobalInvocationID.x;
	uint row = gl_GlobalInvocationID.y;
	if (row >= n || column >= n) {
		return;
	}
	precise float sum = 0.0;
	for (uint k = 0; k < n; k++) {
		sum += a[row * n + k] * b[k * n + column];
	}
	c[row * n + column] = sum;
}
