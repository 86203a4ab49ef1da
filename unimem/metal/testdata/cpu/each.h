// Runs a kernel for every thread of a grid. The numbers of the arguments are their places.

#pragma once

using metal::uint3;

template<typename T> struct plain { typedef T type; };
template<typename T> struct plain<T &> { typedef T type; };

template<typename T> T & argument(void * p) { return *(T *)p; }

template<typename F> static void each(const uint * groups, const uint * group, F f)
{
	for (uint z = 0; z < groups[2] * group[2]; z++)
		for (uint y = 0; y < groups[1] * group[1]; y++)
			for (uint x = 0; x < groups[0] * group[0]; x++)
				f(uint3(x, y, z));
}

template<typename A, typename B, typename C, typename D>
static void run(void (*f)(A, B, C, D, uint3), void ** p, const uint * groups, const uint * group)
{
	each(groups, group, [&](uint3 at) {
		f(argument<typename plain<A>::type>(p[0]), argument<typename plain<B>::type>(p[1]),
		    argument<typename plain<C>::type>(p[2]), argument<typename plain<D>::type>(p[3]), at);
	});
}

template<typename A, typename B>
static void run(void (*f)(A, B, uint3), void ** p, const uint * groups, const uint * group)
{
	each(groups, group, [&](uint3 at) {
		f(argument<typename plain<A>::type>(p[0]), argument<typename plain<B>::type>(p[1]), at);
	});
}

template<typename A, typename B, typename C>
static void run(void (*f)(A, B, C, uint3), void ** p, const uint * groups, const uint * group)
{
	each(groups, group, [&](uint3 at) {
		f(argument<typename plain<A>::type>(p[0]), argument<typename plain<B>::type>(p[1]),
		    argument<typename plain<C>::type>(p[2]), at);
	});
}

template<typename A, typename B, typename C>
static void run(void (*f)(A, B, C, uint3, uint3), void ** p, const uint * groups, const uint * group)
{
	each(groups, group, [&](uint3 at) {
		f(argument<typename plain<A>::type>(p[0]), argument<typename plain<B>::type>(p[1]),
		    argument<typename plain<C>::type>(p[2]), at, uint3(groups[0], groups[1], groups[2]));
	});
}

// reads has a bit for each argument that a kernel takes as const, by its place.
template<typename T> struct constant_reference { static const uint value = 0; };
template<typename T> struct constant_reference<const T &> { static const uint value = 1; };

template<typename R> static uint reads(R (*)()) { return 0; }
template<typename R, typename A, typename... Rest> static uint reads(R (*)(A, Rest...))
{
	return constant_reference<A>::value | reads((R (*)(Rest...))0) << 1;
}
