package metal

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// flat is the geometry of the surface of a Block that unimem opened: one row of bytes.
func flat(size int) plane { return plane{width: size, height: 1, element: 1, row: size} }

func TestFlat(t *testing.T) {
	for _, c := range []struct {
		size, width int
		format      Format
		want        error
	}{
		{page, page, R8Unorm, nil},
		{1, 1, R8Sint, nil},
		{page + 1, maxSide, R8Uint, nil},
		{math.MaxInt, maxSide, R8Sint, nil},
		{page, page + 1, R8Unorm, ErrShape},
		{page, 0, R8Unorm, ErrShape},
		{page, math.MinInt, R8Unorm, ErrShape},
		{page, 1, R16Float, ErrFormat},
		{page, 1, BGRA8Unorm, ErrFormat},
		{page, 1, RGBA32Float, ErrFormat},
		{page, 1, 0, ErrFormat},
		{page, 1, 250, ErrFormat}, // Depth16Unorm
		{page, 1, math.MaxUint, ErrFormat},
	} {
		err := Shape{Width: c.width, Height: 1, Format: c.format}.check(flat(c.size))
		require.ErrorIs(t, err, c.want, "%d of %d, %v", c.width, c.size, c.format)
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
		{"beyond Metal", Shape{maxSide + 1, 1, R8Unorm, 0, false}, flat(1 << 20), ErrShape},
		{"as large as it goes", Shape{maxSide, 1, R8Unorm, 0, false}, flat(1 << 20), nil},
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
	for f := range formats {
		require.NotContains(t, f.String(), "Format(")
	}
}
