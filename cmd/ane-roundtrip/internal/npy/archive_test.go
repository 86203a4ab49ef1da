package npy

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// packed makes an archive of entries name, content, name, content ...
func packed(t testing.TB, method uint16, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: parts[i], Method: method})
		require.NoError(t, err)
		_, err = io.WriteString(w, parts[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func open(t testing.TB, data []byte) *Archive {
	t.Helper()
	a, err := OpenArchive(bytes.NewReader(data), int64(len(data)), "a.npz")
	require.NoError(t, err)
	return a
}

func TestArchive(t *testing.T) {
	x := &Array{Type: mil.FP32, Shape: []int{2}, Data: []byte("abcdefgh")}
	y := &Array{Type: mil.UInt8, Shape: []int{}, Data: []byte("z")}
	var b bytes.Buffer
	require.NoError(t, WriteArchive(&b, []Member{{"x", x}, {"deep/y", y}}))
	a := open(t, b.Bytes())
	require.Equal(t, "it has deep/y, x", a.has())
	got, err := a.Read("x", nil)
	require.NoError(t, err)
	require.Equal(t, x, got)
	got, err = a.Read("deep/y", nil)
	require.NoError(t, err)
	require.Equal(t, y, got)

	one := string(file(1, dict("<f4", "False", "(1,)"), "abcd"))
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		a := open(t, packed(t, method, "readme.txt", "hello", "x.npy", one))
		require.Equal(t, "it has readme.txt, x", a.has())
		got, err := a.Read("x", nil)
		require.NoError(t, err)
		require.Equal(t, "abcd", string(got.Data))
	}

	// Programs other than NumPy write entries without the suffix.
	other := string(file(1, dict("<f4", "False", "(1,)"), "efgh"))
	a = open(t, packed(t, zip.Deflate, "layers/", "", "layers/w", one, "b", other))
	require.Equal(t, "it has b, layers/w", a.has())
	got, err = a.Read("layers/w", nil)
	require.NoError(t, err)
	require.Equal(t, "abcd", string(got.Data))

	// An entry with the suffix goes before one without. A key may name either.
	a = open(t, packed(t, zip.Store, "x", other, "x.npy", one, "y", other))
	for key, want := range map[string]string{"x": "abcd", "x.npy": "abcd", "y": "efgh"} {
		got, err := a.Read(key, nil)
		require.NoError(t, err)
		require.Equal(t, want, string(got.Data), key)
	}
}

func TestArchiveRefuses(t *testing.T) {
	one := string(file(1, dict("<f4", "False", "(1,)"), "abcd"))
	fault := func(data []byte, key, what string) {
		t.Helper()
		a, err := OpenArchive(bytes.NewReader(data), int64(len(data)), "a.npz")
		if err == nil {
			_, err = a.Read(key, nil)
		}
		var e *Error
		require.ErrorAs(t, err, &e)
		require.NotEmpty(t, e.Fix)
		require.True(t, strings.HasPrefix(err.Error(), "a.npz"), "%v", err)
		require.NotContains(t, err.Error(), "\n")
		require.ErrorContains(t, err, what)
	}
	fault([]byte("no archive"), "x", "damaged or incomplete")
	fault(packed(t, zip.Store), "x", `no array "x"; it has no arrays`)
	fault(packed(t, zip.Store, "a.npy", one, "b.npy", one), "x", "it has a, b")
	fault(packed(t, zip.Store, "x.npy", one, "x.npy", one), "x", "has the array \"x\" twice")
	fault(packed(t, zip.Deflate, "x.npy", "hello"), "x", "a.npz:x: this is text")
	fault(packed(t, zip.Store, "x.npy", one+"more"), "x", "continues after the array")
	damaged := packed(t, zip.Store, "x.npy", one)
	damaged[bytes.Index(damaged, []byte("abcd"))]++
	fault(damaged, "x", "checksum")
	odd := packed(t, zip.Store, "x.npy", one)
	at := bytes.LastIndex(odd, []byte("PK\x01\x02"))
	odd[at+10] = 99
	fault(odd, "x", "method 99 of zip")
	odd[at+10], odd[at+8] = 0, 1
	fault(odd, "x", "encrypted")

	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("k%02d.npy", i), "")
	}
	fault(packed(t, zip.Store, many...), "x", "k07 and 4 more")
	fault(packed(t, zip.Store, "readme.txt", "hello", "b.npy", one), "readme.txt", "a.npz:readme.txt: this is text")
	fault(packed(t, zip.Store, "folder/", ""), "folder/", "it has no arrays")
	fault(packed(t, zip.Store, strings.Repeat("n", 65000), "", strings.Repeat("m", 65000), ""), "x",
		"it has "+strings.Repeat("m", 80)+"..., "+strings.Repeat("n", 80)+"...")
	many = nil
	for i := range maxDirectory/65000 + 1 {
		many = append(many, fmt.Sprint(i)+strings.Repeat("n", 65000), "")
	}
	fault(packed(t, zip.Store, many...), "x", fmt.Sprintf("more than %d bytes", maxDirectory))
}

// A small archive that declares or holds a large array costs little memory, since Accept rejects it.
func TestBomb(t *testing.T) {
	const huge = 16 << 20
	head := string(file(1, dict("|u1", "False", fmt.Sprintf("(%d,)", huge)), ""))
	honest := packed(t, zip.Deflate, "x.npy", head+strings.Repeat("\x00", huge))
	small := string(file(1, dict("|u1", "False", "(3,)"), ""))
	liar := packed(t, zip.Deflate, "x.npy", small+strings.Repeat("\x00", huge))
	cost := func(data []byte, what string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := open(t, data).Read("x", func(_ mil.DType, shape []int) *Error {
			if shape[0] > 10 {
				return &Error{What: "not wanted", Fix: "none"}
			}
			return nil
		})
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, what)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
	}
	cost(honest, "a.npz:x: not wanted")
	cost(liar, "continues after the array")
}

// FuzzArchive reads any bytes as an archive. The reader returns a consistent array or an *Error, within
// the memory that the arrays may take.
func FuzzArchive(f *testing.F) {
	one := string(file(1, dict("<f4", "False", "(1,)"), "abcd"))
	f.Add(packed(f, zip.Store, "x.npy", one, "y.npy", one))
	f.Add(packed(f, zip.Deflate, "x.npy", one))
	f.Add(packed(f, zip.Store))
	f.Add(packed(f, zip.Store, "a\nb.npy", "hello"))
	f.Fuzz(func(t *testing.T, data []byte) {
		refused := func(err error) {
			var e *Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Fix)
			require.NotContains(t, err.Error(), "\n")
		}
		a, err := OpenArchive(bytes.NewReader(data), int64(len(data)), "f")
		if err != nil {
			refused(err)
			return
		}
		const limit = 1 << 16
		small := func(d mil.DType, shape []int) *Error {
			if n, _ := mil.TensorOf(d, shape...).Elements(); n > limit/d.Size() {
				return &Error{What: "too large", Fix: "none"}
			}
			return nil
		}
		for _, entry := range a.files {
			array, err := a.Read(entry.Name, small)
			if err != nil {
				refused(err)
				continue
			}
			require.NoError(t, Write(io.Discard, array))
			require.LessOrEqual(t, len(array.Data), limit)
		}
	})
}
