package soft_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
)

// compile compiles text and closes the executable.
func compile(t testing.TB, text string) error {
	dev, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, dev.Close()) }()
	m, err := dev.Compile(context.Background(), ane.Source{File: "hostile.mil", Text: []byte(text)})
	if err == nil {
		require.NoError(t, m.Close(context.Background()))
	}
	return err
}

// grown returns the bytes that f allocated on the heap, including freed ones.
func grown(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// program wraps statements in a function with the given parameters and results.
func program(params, body, results string) string {
	return "program(1.3)\n{\nfunc main<ios18>(" + params + ") {\n" + body + "\n} -> (" + results + ");\n}\n"
}

// lines repeats a statement n times. %[1]d is its number, %[2]d the previous
// one.
func lines(n int, statement string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, statement+"\n", i, i-1)
	}
	return b.String()
}

// TestHostilePrograms: a short text with excessive demands is rejected with a
// position and a hint, or compiles within a small bound of memory.
func TestHostilePrograms(t *testing.T) {
	const x4, big = "tensor<fp16, [4]> x", "tensor<fp16, [2147483648]>"
	for name, c := range map[string]struct {
		text    string
		refused string // part of the message; empty if the program compiles
		room    uint64 // heap bytes that compiling may allocate
	}{
		"intermediate values of 2^31 elements": {program(x4, `tensor<fp16, [2147483648]> a = tile4(x = x);`, "a"),
			"unknown operator tile4", 1 << 20},
		"many large values": {program(big+" x", lines(8, big+" v%[1]d = relu(x = x);")+
			big+" a = add(x = v1, y = v2);\n"+big+" b = add(x = v3, y = v4);\n"+big+" c = add(x = v5, y = v6);\n"+big+
			" d = add(x = v7, y = v8);\n"+
			big+" e = add(x = a, y = b);\n"+big+" f = add(x = c, y = d);\n"+big+
			" y = add(x = e, y = f);\n", "y"), "intermediate values need", 1 << 20},
		"product of everything with everything": {program("tensor<fp16, [1048576, 1]> x",
			`tensor<fp16, [1048576, 1048576]> y = matmul(x = x, y = x, transpose_y = bool(true));`, "y"),
			"empty or too large", 1 << 20},
		"pad of 2^30": {program(x4,
			`tensor<fp16, [1073741828]> y = pad(x = x, pad = tensor<int32, [2]>([0, 1073741824]), mode = string("replicate"));`, "y"), "", 1 << 20},
		"pad beyond 2^31": {program(x4,
			`tensor<fp16, [4]> y = pad(x = x, pad = tensor<int32, [2]>([2147483647, 2147483647]));`, "y"), "empty or too large", 1 << 20},
		"pad of 2^62": {program(x4,
			`tensor<fp16, [4]> y = pad(x = x, pad = tensor<int64, [2]>([4611686018427387904, 4611686018427387904]));`, "y"), "pad", 1 << 20},
		"max_pool of 2^20": {long["pool"], "", 1 << 20},
		"a kernel of 2^31": {program("tensor<fp16, [1, 1, 8]> x",
			`tensor<fp16, [1, 1, 8]> y = max_pool(x = x, kernel_sizes = tensor<int32, [1]>([2147483647]), pad_type = string("same"));`, "y"), "", 1 << 20},
		"split into 2^31": {program(big+" x",
			`tensor<fp16, [1]> y = split(x = x, num_splits = int64(2147483648), axis = int32(0));`, "y"), "cannot be split", 1 << 20},
		"layer_norm over 2^31": {program(big+" x", big+` y = layer_norm(x = x);`, "y"), "", 1 << 20},
		"softmax over 2^31": {program(big+" x", // with one processor softmax alone needs 8 GiB, which may be
			big+" v = relu(x = x);\n"+big+` y = softmax(x = v);`, "y"), "intermediate values need", 1 << 20},
		"sum over 2^31": {program(big+" x", `fp16 y = reduce_sum(x = x);`, "y"), "", 1 << 20},
		"matmul over 2^31": {program("tensor<fp16, [1, 2147483648]> x",
			`tensor<fp16, [1, 1]> y = matmul(x = x, y = x, transpose_y = bool(true));`, "y"), "intermediate values need", 1 << 20},
		"folded gigabytes": {program("fp16 x", "tensor<fp16, [1]> v0 = const()[val = tensor<fp16, [1]>([1])];\n"+
			doubled(31), "y"), "", 3 << 30},
		"folded pooling": {program("fp16 x",
			"tensor<fp16, [1, 1, 1]> k = const()[val = tensor<fp16, [1, 1, 1]>([1])];\ntensor<fp16, [1, 1, 8388609]> "+
				"p = pad(x = k, pad = tensor<int32, [2]>([4194304, 4194304]));\ntensor<fp16, [1, 1, 8388609]> q = "+
				"max_pool(x = p, kernel_sizes = tensor<int32, [1]>([8388609]), pad_type = "+
				"string(\"same\"));\ntensor<fp16, [1, 1, 8388609]> y = add(x = q, y = x);", "y"), "", 1 << 28},
		"folded product": {program("fp16 x",
			"tensor<fp16, [1, 1]> k = const()[val = tensor<fp16, [1, 1]>([1])];\ntensor<fp16, [8192, 8192]> p = "+
				"pad(x = k, pad = tensor<int32, [4]>([8191, 0, 8191, 0]));\ntensor<fp16, [8192, 8192]> q = matmul(x "+
				"= p, y = p);\ntensor<fp16, [8192, 8192]> y = add(x = q, y = x);", "y"), "", 1 << 30},
		"one weight many times": {program("tensor<fp16, [1, 8192]> v0",
			"tensor<fp16, [1, 1]> k = const()[val = tensor<fp16, [1, 1]>([1])];\ntensor<fp16, [8192, 8192]> w = "+
				"pad(x = k, pad = tensor<int32, [4]>([8191, 0, 8191, 0]));\n"+
				lines(1000, "tensor<fp16, [1, 8192]> v%[1]d = matmul(x = v%[2]d, y = w);"), "v1000"), "", 2 << 30},
		"dead gigabytes": {program("fp16 x", "tensor<fp16, [1]> v0 = const()[val = tensor<fp16, [1]>([1])];\n"+
			doubled(27)+"fp16 z = relu(x = x);", "z"), "", 1 << 20},
		"a setting of gigabytes": {program("fp16 x",
			"tensor<fp16, [1]> y = reshape(x = x, shape = tensor<int32, [100000]>(["+strings.Repeat("1, ", 99999)+
				"1]));", "y"), "too long for a setting", 64 << 20},
		"100000 statements": {program("tensor<fp16, [7]> v0",
			lines(100000, "tensor<fp16, [7]> v%[1]d = relu(x = v%[2]d);"), "v100000"), "", 2 << 30},
		"100000 values at once": {program("tensor<fp16, [7]> x",
			lines(100000, "tensor<fp16, [7]> v%[1]d = relu(x = x);")+
				"tensor<fp16, [700000]> y = concat(values = ("+strings.TrimSuffix(strings.ReplaceAll(lines(100000,
				"v%[1]d, "), "\n", ""), ", ")+"), axis = int32(0), interleave = bool(false));", "y"), "", 2 << 30},
		"100000 notes": {program("tensor<fp32, [7]> v0", lines(100000, "tensor<fp32, [7]> v%[1]d = relu(x = v%[2]d);"),
			"v100000"), "", 2 << 30},
		"100000 faults": {program("tensor<fp16, [7]> v0", lines(100000, "tensor<fp16, [7]> v%[1]d = nothing(x = v0);"),
			"v100000"), "unknown operator", 2 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			if c.room >= 1<<30 {
				effort.NeedsFull(t, "seconds and a gigabyte")
			}
			var err error
			used := grown(func() { err = compile(t, c.text) })
			require.LessOrEqual(t, used, c.room, "bytes allocated")
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			requirePlaced(t, err)
			require.Contains(t, err.Error(), c.refused)
			require.Less(t, len(err.Error()), 1<<16)
		})
	}
}

// doubled doubles v0 n times by concat and adds x to the sum of the result.
func doubled(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "tensor<fp16, [%d]> v%d = concat(values = (v%d, v%d), axis = int32(0), interleave = "+
			"bool(false));\n", 1<<i, i, i-1, i-1)
	}
	fmt.Fprintf(&b, "fp16 s = reduce_max(x = v%d);\nfp16 y = add(x = s, y = x);\n", n)
	return b.String()
}

// requirePlaced requires a position (file, line, column) in every fault.
func requirePlaced(t testing.TB, err error) {
	t.Helper()
	require.ErrorIs(t, err, ane.ErrCompile)
	var list mil.ErrorList
	require.True(t, errors.As(err, &list), "no mil.ErrorList in %v", err)
	require.NotEmpty(t, list)
	for _, e := range list {
		require.Equal(t, "hostile.mil", e.File)
		require.True(t, e.Pos.Known(), "no position: %v", e)
		require.NotEmpty(t, e.Msg)
	}
}
