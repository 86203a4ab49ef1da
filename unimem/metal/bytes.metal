#include <metal_stdlib>
#include <simd/simd.h>

using namespace metal;

struct counts
{
    uint length;
    uint word;
};

struct run_of_bytes
{
    uchar at[1];
};

// Each thread writes 16 bytes, of the word from its first byte on.
kernel void fill_bytes(constant counts& push [[buffer(0)]], device run_of_bytes& to [[buffer(1)]], uint3 thread_at [[thread_position_in_grid]])
{
    uint first = thread_at.x * 16u;
    for (uint i = first; i < first + 16u && i < push.length; i++)
    {
        to.at[i] = uchar(push.word >> (8u * (i & 3u)));
    }
}

kernel void copy_bytes(constant counts& push [[buffer(0)]], device run_of_bytes& to [[buffer(1)]], const device run_of_bytes& from [[buffer(2)]], uint3 thread_at [[thread_position_in_grid]])
{
    uint first = thread_at.x * 16u;
    for (uint i = first; i < first + 16u && i < push.length; i++)
    {
        to.at[i] = from.at[i];
    }
}
