package blob_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// stream returns a function that opens a stream of make, and counts closed streams.
func stream(make func() io.Reader, closed *int) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return &closing{make(), closed}, nil }
}

type closing struct {
	io.Reader
	closed *int
}

func (c *closing) Close() error { *c.closed++; return nil }

// singles returns n numbers, some of them out of the range of fp16, and their bytes.
func singles(n int) ([]float32, []byte) {
	r := rand.New(rand.NewPCG(1, 2))
	values, raw := make([]float32, n), []byte(nil)
	for i := range values {
		values[i] = float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(11)-8)))
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(values[i]))
	}
	return values, raw
}

// A stream gives the same file as values in memory, for pieces of any size, in memory
// and on disk.
func TestStreamsMakeTheSameFile(t *testing.T) {
	const n = 200_000 // several chunks and a rest
	values, raw := singles(n)
	var plain blob.Writer
	_, err := plain.AddFloat32As16(values[:3])
	require.NoError(t, err)
	at, err := plain.AddFloat32As16(values)
	require.NoError(t, err)
	want := plain.Bytes()
	f, err := blob.NewReader(bytes.NewReader(want), int64(len(want)), "w")
	require.NoError(t, err)
	data, err := f.Tensor(at, mil.TensorOf(mil.FP16, n))
	require.NoError(t, err)
	for i, v := range values {
		require.Equal(t, fp16.FromFloat32(v), fp16.Bits(binary.LittleEndian.Uint16(data[2*i:])))
	}

	for name, piecewise := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader,
		"bytes": iotest.OneByteReader, "error with data": iotest.DataErrReader,
	} {
		t.Run(name, func(t *testing.T) {
			closed := 0
			var w blob.Writer
			_, err := w.AddFloat32As16(values[:3])
			require.NoError(t, err)
			open := stream(func() io.Reader { return piecewise(bytes.NewReader(raw)) }, &closed)
			streamed, err := w.AddStream(mil.TensorOf(mil.FP16, n), func() (io.ReadCloser, error) {
				r, err := open()
				return blob.Float32As16(r), err
			})
			require.NoError(t, err)
			require.Equal(t, at, streamed)
			require.Zero(t, closed, "streams are not opened before the file is written")
			var out bytes.Buffer
			written, err := w.WriteTo(&out)
			require.NoError(t, err)
			require.Equal(t, w.Size(), written)
			require.True(t, bytes.Equal(want, out.Bytes()))
			require.True(t, bytes.Equal(want, w.Bytes()))
			files := blob.Writers{blob.ModelPath + "weights/w.bin": &w}
			dir := t.TempDir()
			require.NoError(t, files.WriteDir(dir))
			for _, source := range []blob.Source{files, blob.Dir(dir), blob.FS(os.DirFS(dir))} {
				got, err := source.ReadFile(blob.ModelPath + "weights/w.bin")
				require.NoError(t, err)
				require.True(t, bytes.Equal(want, got), "%T", source)
			}
			require.Equal(t, 4, closed)
		})
	}
}

func TestStreamsWithoutWholeBytes(t *testing.T) {
	closed := 0
	var w blob.Writer
	at, err := w.AddStream(mil.TensorOf(mil.UInt4, 3),
		stream(func() io.Reader { return bytes.NewReader([]byte{0x21, 0x03}) }, &closed))
	require.NoError(t, err)
	var same blob.Writer
	_, err = same.Add(mil.UInt4, []byte{0x21, 0x03}, 4)
	require.NoError(t, err)
	require.Equal(t, same.Bytes(), w.Bytes())
	require.EqualValues(t, 64, at)
}

func TestStreamsThatFail(t *testing.T) {
	broken := errors.New("the disk is gone")
	four := mil.TensorOf(mil.FP16, 4)
	for name, c := range map[string]struct {
		open func() (io.ReadCloser, error)
		is   error
		want string
	}{
		"short": {func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(make([]byte, 7))), nil },
			blob.ErrSize, "byte 128: the stream ends after 7 of 8 bytes"},
		"long": {func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(make([]byte, 9))), nil },
			blob.ErrSize, "the stream has more than 8 bytes"},
		"refused": {func() (io.ReadCloser, error) { return nil, broken }, broken,
			"cannot read the stream: the disk is gone"},
		"nil": {func() (io.ReadCloser, error) { return nil, nil }, nil, "returned nil"},
		"breaks": {func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(broken)), nil }, broken,
			"the disk is gone"},
		"closing": {func() (io.ReadCloser, error) { return unclosable{bytes.NewReader(make([]byte, 8)), broken}, nil },
			broken, "the disk is gone"},
		"cut float": {func() (io.ReadCloser, error) {
			return blob.Float32As16(io.NopCloser(bytes.NewReader(make([]byte, 15)))), nil
		}, blob.ErrSize, "the stream ends after 6 of 8 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			var w blob.Writer
			_, err := w.AddStream(four, c.open)
			require.NoError(t, err)
			dir := t.TempDir()
			files := blob.Writers{blob.ModelPath + "w.bin": &w}
			_, memory := files.ReadFile(blob.ModelPath + "w.bin")
			_, written := w.WriteTo(io.Discard)
			for _, err := range []error{memory, written, files.WriteDir(dir)} {
				var e *blob.Error
				require.ErrorAs(t, err, &e)
				require.ErrorContains(t, err, c.want)
				if c.is != nil {
					require.ErrorIs(t, err, c.is)
				}
			}
			require.ErrorContains(t, memory, "w.bin: byte 128")
			require.Nil(t, w.Bytes())
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left, "no partial file remains")
		})
	}
}

type unclosable struct {
	io.Reader
	err error
}

func (u unclosable) Close() error { return u.err }

func TestInvalidStreams(t *testing.T) {
	open := func() (io.ReadCloser, error) { return nil, nil }
	var w blob.Writer
	for _, c := range []struct {
		t    mil.Type
		open func() (io.ReadCloser, error)
		is   error
	}{
		{mil.TensorOf(mil.Int64, 1), open, blob.ErrType},
		{mil.Type{Kind: mil.Tensor, DType: mil.FP16, Dims: []mil.Dim{{Symbol: "?"}}}, open, blob.ErrType},
		{mil.TensorOf(mil.FP16, 0), open, blob.ErrSize},
		{mil.TensorOf(mil.FP16, math.MaxInt), open, blob.ErrSize},
		{mil.TensorOf(mil.FP16, math.MaxInt/2-64), open, blob.ErrSize},
		{mil.TensorOf(mil.FP16, 1), nil, blob.ErrSize},
	} {
		_, err := w.AddStream(c.t, c.open)
		require.ErrorIs(t, err, c.is, "%v", c.t)
		require.NotContains(t, err.Error(), "byte")
	}
	_, err := w.AddFloat32As16(nil)
	require.ErrorIs(t, err, blob.ErrSize)
	require.EqualValues(t, 64, w.Size())
}

func TestClonesAreIndependent(t *testing.T) {
	var w blob.Writer
	_, err := w.AddFloat32As16([]float32{1})
	require.NoError(t, err)
	c := w.Clone()
	before := c.Bytes()
	_, err = w.AddFloat32As16([]float32{2})
	require.NoError(t, err)
	_, err = c.AddFloat32As16([]float32{3})
	require.NoError(t, err)
	require.NotEqual(t, w.Bytes(), c.Bytes())
	require.Equal(t, len(w.Bytes()), len(c.Bytes()))
	require.Equal(t, before[64:130], c.Bytes()[64:130])
}

// The caller may change the values after the call.
func TestValuesAreConvertedAtTheCall(t *testing.T) {
	var w blob.Writer
	values := []float32{1, 2}
	_, err := w.AddFloat32As16(values)
	require.NoError(t, err)
	before := w.Bytes()
	values[0] = 3
	require.Equal(t, before, w.Bytes())
}

func TestSources(t *testing.T) {
	var w blob.Writer
	_, err := w.AddFloat32As16([]float32{1})
	require.NoError(t, err)
	made := blob.Writers{blob.ModelPath + "made.bin": &w, blob.ModelPath + "none.bin": nil}
	tree := fstest.MapFS{"weights/w.bin": {Data: []byte("w")}, "made.bin": {Data: []byte("second")}}
	all := blob.Sources{nil, made, blob.FS(tree)}
	got, err := all.ReadFile(blob.ModelPath + "weights/w.bin")
	require.NoError(t, err)
	require.Equal(t, "w", string(got))
	got, err = all.ReadFile(blob.ModelPath + "made.bin")
	require.NoError(t, err)
	require.Equal(t, w.Bytes(), got)
	for path, is := range map[string]error{
		blob.ModelPath + "none.bin": fs.ErrNotExist, blob.ModelPath + "weights": blob.ErrFormat,
		blob.ModelPath + "../w": fs.ErrInvalid, blob.ModelPath: fs.ErrInvalid, "w.bin": fs.ErrNotExist,
	} {
		_, err := all.ReadFile(path)
		if path == "w.bin" { // the first source has no such file, the second no such path
			is = fs.ErrInvalid
		}
		require.ErrorIs(t, err, is, path)
	}
	_, err = blob.FS(nil).ReadFile(blob.ModelPath + "w")
	require.Error(t, err)
	_, err = blob.Sources(nil).ReadFile("w")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, made.WriteDir(t.TempDir()), fs.ErrNotExist)
	for _, path := range []string{"w.bin", blob.ModelPath + "../w.bin"} {
		require.ErrorIs(t, blob.Writers{path: &w}.WriteDir(t.TempDir()), fs.ErrInvalid)
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Error(t, blob.Writers{blob.ModelPath + "w": &w}.WriteDir(file))
}

// A stream of any length takes the same memory.
func TestStreamsTakeLittleMemory(t *testing.T) {
	var w blob.Writer
	const n = 16 << 20
	_, err := w.AddStream(mil.TensorOf(mil.FP16, n), func() (io.ReadCloser, error) {
		return blob.Float32As16(io.NopCloser(io.LimitReader(zeros{}, 4*n))), nil
	})
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = w.WriteTo(io.Discard)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<20))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func ExampleWriter_AddStream() {
	var w blob.Writer
	tree := fstest.MapFS{"w.f32": {Data: make([]byte, 4*32*64)}} // or os.DirFS, an embed.FS ..
	offset, err := w.AddStream(mil.TensorOf(mil.FP16, 32, 64, 1, 1), func() (io.ReadCloser, error) {
		r, err := tree.Open("w.f32")
		return blob.Float32As16(r), err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := w.WriteTo(io.Discard)
	fmt.Println(offset, n, err)
	// Output: 64 4224 <nil>
}

// LostAs16 counts what the conversion of package fp16 makes infinite, zero, or leaves as NaN.
func TestLostAs16(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	require.Equal(t, blob.Lost{Infinite: 2, Zero: 2, NaN: 1},
		blob.LostAs16([]float32{70000, -65520, 65519, 1e-12, -1e-12, 0, inf, -inf, nan, 1}))
	require.Zero(t, blob.LostAs16(nil))
	values, _ := singles(1000)
	for i := range uint32(1 << 16) { // the numbers where the conversion may change, and their neighbors
		for d := range uint32(3) {
			values = append(values, math.Float32frombits(i<<16+d-1), math.Float32frombits(i<<16|0xf000+d-1))
		}
	}
	halves := make([]fp16.Bits, len(values))
	fp16.Encode(halves, values)
	var want blob.Lost
	for i, h := range halves {
		switch x, y := float64(values[i]), float64(h.Float32()); {
		case math.IsNaN(x):
			want.NaN++
		case math.IsInf(y, 0) && !math.IsInf(x, 0):
			want.Infinite++
		case y == 0 && x != 0:
			want.Zero++
		}
	}
	require.Equal(t, want, blob.LostAs16(values))
}

// A stream ends before the first value that becomes infinite or is NaN; infinities pass.
func TestFloat32As16Refuses(t *testing.T) {
	const many = 100_000 // beyond the first buffer
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		at    int
		value float32
		text  string
	}{{0, 1e9, "value 0 of the stream is 1e+09"}, {many - 1, -65520, "value 99999 of the stream is -65520"},
		{70_000, float32(math.NaN()), "value 70000 of the stream is NaN"}, {5, inf, ""}, {many - 1, -inf, ""}} {
		raw := make([]byte, 4*many)
		binary.LittleEndian.PutUint32(raw[4*c.at:], math.Float32bits(c.value))
		got, err := io.ReadAll(blob.Float32As16(io.NopCloser(bytes.NewReader(raw))))
		if c.text == "" {
			require.NoError(t, err)
			require.Len(t, got, 2*many)
			continue
		}
		require.ErrorIs(t, err, blob.ErrRange)
		require.ErrorContains(t, err, c.text)
		require.Len(t, got, 2*c.at)
	}
}
