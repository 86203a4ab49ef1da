#pragma clang diagnostic ignored "-Wmissing-prototypes"

#include <metal_stdlib>
#include <simd/simd.h>

using namespace metal;

template<typename T>
[[clang::optnone]] T spvFMul(T l, T r)
{
    return fma(l, r, T(0));
}

template<typename T, int Cols, int Rows>
[[clang::optnone]] vec<T, Cols> spvFMulVectorMatrix(vec<T, Rows> v, matrix<T, Cols, Rows> m)
{
    vec<T, Cols> res = vec<T, Cols>(0);
    for (uint i = Rows; i > 0; --i)
    {
        vec<T, Cols> tmp(0);
        for (uint j = 0; j < Cols; ++j)
        {
            tmp[j] = m[j][i - 1];
        }
        res = fma(tmp, vec<T, Cols>(v[i - 1]), res);
    }
    return res;
}

template<typename T, int Cols, int Rows>
[[clang::optnone]] vec<T, Rows> spvFMulMatrixVector(matrix<T, Cols, Rows> m, vec<T, Cols> v)
{
    vec<T, Rows> res = vec<T, Rows>(0);
    for (uint i = Cols; i > 0; --i)
    {
        res = fma(m[i - 1], vec<T, Rows>(v[i - 1]), res);
    }
    return res;
}

template<typename T, int LCols, int LRows, int RCols, int RRows>
[[clang::optnone]] matrix<T, RCols, LRows> spvFMulMatrixMatrix(matrix<T, LCols, LRows> l, matrix<T, RCols, RRows> r)
{
    matrix<T, RCols, LRows> res;
    for (uint i = 0; i < RCols; i++)
    {
        vec<T, RCols> tmp(0);
        for (uint j = 0; j < LCols; j++)
        {
            tmp = fma(vec<T, RCols>(r[i][j]), l[j], tmp);
        }
        res[i] = tmp;
    }
    return res;
}

template<typename T>
[[clang::optnone]] T spvFAdd(T l, T r)
{
    return fma(T(1), l, r);
}

struct _13
{
    uint _m0;
    uint _m1;
    uint _m2;
    uint _m3;
};

struct _27
{
    uint _m0[1];
};

struct _113
{
    float _m0[1];
};

struct _143
{
    float _m0[1];
};

constant uint3 gl_WorkGroupSize [[maybe_unused]] = uint3(64u, 1u, 1u);

static inline __attribute__((always_inline))
float _11(thread const uint& _10, constant _13& v_15, const device _27& v_29)
{
    if (v_15._m3 == 0u)
    {
        return as_type<float>(v_29._m0[_10]);
    }
    uint _37 = v_29._m0[_10 >> uint(1)];
    bool _44 = (_10 & 1u) != 0u;
    if (v_15._m3 == 1u)
    {
        uint _55;
        if (_44)
        {
            _55 = _37 >> uint(16);
        }
        else
        {
            _55 = _37;
        }
        return float2(as_type<half2>(_55)).x;
    }
    uint _69;
    if (_44)
    {
        _69 = _37 & 4294901760u;
    }
    else
    {
        _69 = _37 << uint(16);
    }
    return as_type<float>(_69);
}

kernel void linear(constant _13& v_15 [[buffer(0)]], const device _27& v_29 [[buffer(1)]], const device _113& _115 [[buffer(2)]], device _143& _145 [[buffer(3)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]])
{
    uint _82 = gl_GlobalInvocationID.x;
    uint _89 = gl_GlobalInvocationID.y;
    if (_82 >= v_15._m0)
    {
        return;
    }
    float _100 = 0.0;
    for (uint _102 = 0u; _102 < v_15._m1; _102++)
    {
        uint _135 = (v_15._m2 + (_82 * v_15._m1)) + _102;
        _100 = spvFAdd(_100, spvFMul(_115._m0[(_89 * v_15._m1) + _102], _11(_135, v_15, v_29)));
    }
    _145._m0[(_89 * v_15._m0) + _82] = _100;
}

