package metal

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlat(t *testing.T) {
	for _, c := range []struct {
		size   int
		format Format
		width  int
		want   error
	}{
		{page, R8Unorm, page, nil},
		{1, R8Snorm, 1, nil},
		{page + 1, R8Uint, MaxSide, nil},
		{1 << 40, R8Sint, MaxSide, nil},
		{math.MaxInt, R8Sint, MaxSide, nil},
		{0, R8Unorm, 0, ErrShape},
		{-1, R8Unorm, 0, ErrShape},
		{math.MinInt, R8Unorm, 0, ErrShape},
		{page, R16Float, 0, ErrFormat},
		{page, BGRA8Unorm, 0, ErrFormat},
		{page, RGBA32Float, 0, ErrFormat},
		{page, 0, 0, ErrFormat},
		{page, 250, 0, ErrFormat}, // Depth16Unorm
		{page, math.MaxUint, 0, ErrFormat},
	} {
		s, err := Flat(c.size, c.format)
		if c.want != nil {
			require.ErrorIs(t, err, c.want, "%d %v", c.size, c.format)
			require.Zero(t, s)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, Shape{Width: c.width, Height: 1, Format: c.format}, s)
	}
}

func TestShapeOfPlanes(t *testing.T) {
	bgra := plane{width: 1920, height: 1080, element: 4, row: 7680}
	chroma := plane{width: 960, height: 540, element: 2, row: 1920}
	for _, c := range []struct {
		name string
		s    Shape
		p    plane
		want error
	}{
		{"whole", Shape{1920, 1080, BGRA8Unorm, 0, false}, bgra, nil},
		{"part", Shape{1, 1, R32Float, 0, true}, bgra, nil},
		{"chroma", Shape{960, 540, RG8Unorm, 1, false}, chroma, nil},
		{"too wide", Shape{1921, 1080, BGRA8Unorm, 0, false}, bgra, ErrShape},
		{"too high", Shape{1920, 1081, BGRA8Unorm, 0, false}, bgra, ErrShape},
		{"no width", Shape{0, 1080, BGRA8Unorm, 0, false}, bgra, ErrShape},
		{"no height", Shape{1, -1, BGRA8Unorm, 0, false}, bgra, ErrShape},
		{"beyond Metal", Shape{MaxSide + 1, 1, R8Unorm, 0, false}, flat(1 << 20), ErrShape},
		{"as large as it goes", Shape{MaxSide, 1, R8Unorm, 0, false}, flat(1 << 20), nil},
		{"two rows of a flat one", Shape{64, 2, R8Unorm, 0, false}, flat(1 << 20), ErrShape},
		{"narrow pixels", Shape{1, 1, R8Unorm, 0, false}, bgra, ErrFormat},
		{"wide pixels", Shape{1, 1, RGBA32Float, 0, false}, bgra, ErrFormat},
		{"rows overlap", Shape{1, 1, BGRA8Unorm, 0, false}, plane{2, 2, 4, 4}, ErrShape},
		{"no elements", Shape{1, 1, R8Unorm, 0, false}, plane{}, ErrFormat},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.s.check(c.p)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Hint)
		})
	}
}

func TestFormats(t *testing.T) {
	require.Equal(t, "BGRA8Unorm", BGRA8Unorm.String())
	require.Equal(t, "Format(7)", Format(7).String())
	require.Zero(t, Format(7).Bytes())
	total := 0
	for f := range formats {
		require.NotContains(t, f.String(), "Format(")
		total += f.Bytes()
	}
	require.Equal(t, 4*1+5*2+6*4+2*8+16, total)
}
