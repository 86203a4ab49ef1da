#include <metal_stdlib>
#include <simd/simd.h>

using namespace metal;

struct _23
{
    uint _m0;
    float _m1;
    float _m2;
};

struct _34
{
    uint _m0[1];
};

struct _39
{
    uint _m0[1];
};

constant uint3 gl_WorkGroupSize [[maybe_unused]] = uint3(64u, 1u, 1u);

kernel void scale(constant _23& _25 [[buffer(0)]], device _34& _36 [[buffer(1)]], const device _39& _41 [[buffer(2)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]], uint3 gl_NumWorkGroups [[threadgroups_per_grid]])
{
    for (uint _8 = gl_GlobalInvocationID.x; _8 < _25._m0; _8 += (gl_NumWorkGroups.x * 64u))
    {
        _36._m0[_8] = as_type<uint>(half2((float2(as_type<half2>(_41._m0[_8])) * _25._m1) + float2(_25._m2)));
    }
}

