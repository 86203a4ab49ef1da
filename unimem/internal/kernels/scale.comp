#version 450

// y = factor * x + offset for fp16, two elements in a word. Words may be the same memory on both sides. The invocations
// stride over all words, so that any number of groups does the work.
layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Y { uint y[]; };

layout(push_constant) uniform Push {
	uint words;
	float factor;
	float offset;
};

void main() {
	for (uint i = gl_GlobalInvocationID.x; i < words; i += gl_NumWorkGroups.x * 64) {
		y[i] = packHalf2x16(unpackHalf2x16(x[i]) * factor + offset);
	}
}
