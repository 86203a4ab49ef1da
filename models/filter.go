package models

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// Filter is a 3x3 image filter. A picture is a tensor [1, C, H+2, W+2] of values within [0, 1], its edge pixels
// repeated once around it. The result is [1, C, H, W]: each channel filtered by itself, not yet clamped.
type Filter struct {
	Name  string
	About string
	// Kernels has one or two kernels of nine weights each, row-major. For two the
	// result is the square root of the sum of their squares.
	Kernels [][]float64
}

// Filters lists the filters by name.
func Filters() []Filter {
	return []Filter{
		{"blur", "binomial 3x3 (1 2 1, 2 4 2, 1 2 1) / 16", [][]float64{
			{1. / 16, 2. / 16, 1. / 16, 2. / 16, 4. / 16, 2. / 16, 1. / 16, 2. / 16, 1. / 16}}},
		{"edge", "Laplacian with all eight neighbors, 8 in the middle", [][]float64{
			{-1, -1, -1, -1, 8, -1, -1, -1, -1}}},
		{"emboss", "light from the upper left, (-2 -1 0, -1 1 1, 0 1 2)", [][]float64{
			{-2, -1, 0, -1, 1, 1, 0, 1, 2}}},
		{"sharpen", "5 in the middle, -1 for the four neighbors", [][]float64{
			{0, -1, 0, -1, 5, -1, 0, -1, 0}}},
		{"sobel", "magnitude of the Sobel gradient", [][]float64{
			{-1, 0, 1, -2, 0, 2, -1, 0, 1}, {-1, -2, -1, 0, 0, 0, 1, 2, 1}}},
	}
}

// FilterByName returns the filter called name, or false if there is none.
func FilterByName(name string) (Filter, bool) {
	all := Filters()
	i := slices.IndexFunc(all, func(f Filter) bool { return f.Name == name })
	if i < 0 {
		return Filter{}, false
	}
	return all[i], true
}

// Averages reports whether the filter does not change a flat picture: it has one
// kernel, whose weights add up to 1. Such a filter can also filter opacity.
func (f Filter) Averages() bool {
	if len(f.Kernels) != 1 {
		return false
	}
	sum := 0.0
	for _, w := range f.Kernels[0] {
		sum += w
	}
	return sum == 1 // weights are multiples of 1/16: the sum is exact
}

// FilterNames lists the names.
func FilterNames() (names []string) {
	for _, f := range Filters() {
		names = append(names, f.Name)
	}
	return names
}

// Model builds the program for pictures of c channels, h rows and w columns. The error is a mil.ErrorList for sizes
// that no program has.
func (f Filter) Model(c, h, w int) (Model, error) {
	tolerance := exactly("weights and sums are multiples of 1/128 of at most 11 bits")
	if len(f.Kernels) == 2 {
		tolerance = Tolerance{Abs: 1e-3, Rel: 2. / 1024,
			Reason: "squares and their sum are exact; sqrt comes from a table, on M6 up to 1.2 units in the last " +
				"place off"}
	}
	return Model{
		Name: f.Name, About: f.About, Input: multiples(1./8, 0, 8), Tolerance: tolerance,
		Reference: func(in map[string][]float64) map[string][]float64 {
			return map[string][]float64{"y": f.apply(in["x"], c, h, w)}
		},
	}.built(func(fn *build.Func) {
		x := fn.Input("x", mil.FP16, 1, c, h+2, w+2)
		var results []build.Value
		for i, kernel := range f.Kernels {
			weight := fn.Weight(string(rune('a'+i))+"_w", singles(slices.Repeat(kernel, c)), c, 1, 3, 3)
			results = append(results, fn.Conv(x, weight, build.Valid, build.Groups(c)))
		}
		y := results[0]
		if len(results) == 2 {
			y = fn.Sqrt(fn.Add(fn.Mul(y, y), fn.Mul(results[1], results[1])))
		}
		fn.Output("y", y)
	})
}

// apply is the reference of Model.
func (f Filter) apply(x []float64, c, h, w int) []float64 {
	y := make([]float64, c*h*w)
	for i := range y {
		ch, row, col := i/(h*w), i/w%h, i%w
		var g []float64
		for _, kernel := range f.Kernels {
			sum := 0.0
			for k, weight := range kernel {
				sum += weight * x[(ch*(h+2)+row+k/3)*(w+2)+col+k%3]
			}
			g = append(g, sum)
		}
		y[i] = g[0]
		if len(g) == 2 {
			y[i] = math.Hypot(g[0], g[1])
		}
	}
	return y
}
