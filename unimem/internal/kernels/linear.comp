#version 450

// Y = X x W' for the weights of a linear layer as files have them: W has a row of ins elements for each of the outs
// elements of a row of Y. X and Y are float32. W is float32 (format 0), fp16 (1) or bfloat16 (2), from its element first
// on. Each invocation makes one element, and adds in the order of a row, so that sums of small integers are exact.
layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) readonly buffer X { float x[]; };
layout(set = 0, binding = 1, std430) readonly buffer W { uint w[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push {
	uint outs;
	uint ins;
	uint first;
	uint format;
};

float weight(uint i) {
	if (format == 0) {
		return uintBitsToFloat(w[i]);
	}
	uint pair = w[i >> 1];
	bool high = (i & 1) != 0;
	if (format == 1) {
		return unpackHalf2x16(high ? pair >> 16 : pair).x;
	}
	return uintBitsToFloat(high ? pair & 0xffff0000u : pair << 16);
}

void main() {
	uint column = gl_GlobalInvocationID.x;
	uint row = gl_GlobalInvocationID.y;
	if (column >= outs) {
		return;
	}
	precise float sum = 0.0;
	for (uint k = 0; k < ins; k++) {
		sum += x[row * ins + k] * weight(first + column * ins + k);
	}
	y[row * outs + column] = sum;
}
