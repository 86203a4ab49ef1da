package soft_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/soft"
)

// seeds returns programs with every kind of kernel.
//
//nolint:dupword // a mask has an element twice
func seeds() []string {
	x := "tensor<fp16, [2, 3]> x, tensor<fp16, [1, 2, 3, 3]> img, tensor<fp16, [4, 2, 1, 1]> k"
	var all []string
	for _, body := range []string{
		`tensor<fp16, [2, 3]> a = add(x = x, y = x); tensor<fp16, [3, 2]> b = transpose(x = a, perm = tensor<int32, [2]>([1, 0])); tensor<fp16, [2, 2]> y = matmul(x = x, y = b);`,
		`tensor<fp16, [1, 4, 3, 3]> y = conv(x = img, weight = k, pad_type = string("same"), strides = tensor<int32, [2]>([1, 1]));`,
		`tensor<fp16, [1, 2, 2, 2]> y = max_pool(x = img, kernel_sizes = tensor<int32, [2]>([2, 2]), ceil_mode = bool(true));`,
		`tensor<fp16, [1, 2, 1, 1]> y = avg_pool(x = img, kernel_sizes = tensor<int32, [2]>([3, 3]), pad_type = string("valid"));`,
		`tensor<fp16, [2, 3]> a = softmax(x = x, axis = int32(-1)); tensor<fp16, [2, 3]> b = layer_norm(x = a, axes = tensor<int32, [1]>([1])); tensor<fp16, [2]> y = reduce_mean(x = b, axes = tensor<int32, [1]>([1]));`,
		`tensor<fp16, [1, 3]> a, tensor<fp16, [1, 3]> b = split(x = x, num_splits = int32(2), axis = int32(0)); tensor<fp16, [1, 6]> y = concat(values = (b, a), axis = int32(1), interleave = bool(true));`,
		`tensor<fp16, [4, 6]> a = pad(x = x, pad = tensor<int32, [4]>([1, 1, 2, 1]), mode = string("reflect")); tensor<fp16, [2, 3]> y = slice_by_index(x = a, begin = tensor<int32, [2]>([3, 0]), end = tensor<int32, [2]>([-4, 6]), stride = tensor<int32, [2]>([-2, 2]));`,
		`tensor<fp16, [6]> a = reshape(x = x, shape = tensor<int32, [1]>([-1])); tensor<int8, [6]> b = cast(x = a, dtype = string("int8")); tensor<int8, [1, 6, 1]> y = expand_dims(x = b, axes = tensor<int32, [2]>([0, 2]));`,
		`fp16 c = const()[val = fp16(2)]; fp16 d = gelu(x = c, mode = string("EXACT")); tensor<fp16, [2, 3]> a = pow(x = x, y = d); tensor<fp16, [2, 3]> y = rsqrt(x = a, epsilon = fp16(0.5));`,
		`tensor<fp16, [2, 3]> a = clip(x = x, alpha = fp16(-1), beta = fp16(2)); tensor<bool, [2, 3]> b = greater(x = a, y = fp16(0)); tensor<bool, [2, 3]> c = logical_not(x = b); tensor<fp16, [2, 3]> d = floor_div(x = a, y = fp16(0.5)); tensor<fp16, [2, 3]> y = select(cond = c, a = d, b = x);`,
		`tensor<fp16, [1, 2, 3, 3]> y = prelu(x = img, alpha = tensor<fp16, [2]>([1, 2]));`,
		`tensor<int8, [2, 3]> q = quantize(input = x, scale = tensor<fp16, [3]>([1, 2, 4]), axis = int32(1), output_dtype = string("int8")); tensor<fp16, [2, 3]> y = dequantize(input = q, scale = fp16(0.5), zero_point = int8(3));`,
		`tensor<fp16, [2, 3]> w = constexpr_lut_to_dense(indices = tensor<uint8, [2]>([27, 7]), lut = tensor<fp16, [4]>([1, 2, 3, 4]), shape = tensor<uint32, [2]>([2, 3])); tensor<fp16, [2, 3]> y = mul(x = x, y = w);`,
		`tensor<fp16, [2, 3]> w = constexpr_lut_to_dense(indices = tensor<uint2, [2, 1]>([1, 3]), lut = tensor<fp16, [2, 1, 4, 3]>([1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4]), vector_axis = int32(1)); tensor<fp16, [2, 3]> y = mul(x = x, y = w);`,
		`tensor<uint1, [2, 3]> m, tensor<fp16, [2]> d = constexpr_sparse_blockwise_shift_scale(data_mask = tensor<uint1, [2, 3]>([1, 0, 0, 0, 1, 0]), nonzero_data = tensor<int4, [2]>([5, -6]), scale = tensor<fp16, [2, 1]>([1, 2])); tensor<fp16, [2, 3]> w = constexpr_sparse_to_dense(nonzero_data = d, mask = m); tensor<fp16, [2, 3]> y = mul(x = x, y = w);`,
		`tensor<fp16, [4, 3]> w = const()[val = tensor<fp16, [4, 3]>([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])]; tensor<fp16, [2, 4]> y = linear(x = x, weight = w, bias = tensor<fp16, [4]>([1, 2, 3, 4]));`,
		`tensor<fp16, [2, 1, 1, 2]> w = const()[val = tensor<fp16, [2, 1, 1, 2]>([1, 2, 3, 4])]; tensor<fp16, [1, 2, 5, 4]> y = conv_transpose(x = img, weight = w, groups = int32(2), strides = tensor<int32, [2]>([2, 1]));`,
		`tensor<fp16, [1, 2, 5, 4]> a = resize_bilinear(x = img, target_size_height = int32(5), target_size_width = int32(4), sampling_mode = string("OFFSET_CORNERS")); tensor<fp16, [1, 2, 5, 8]> y = upsample_nearest_neighbor(x = a, scale_factor_width = int32(2));`,
		`tensor<fp16, [1, 4]> b = const()[val = tensor<fp16, [1, 4]>([0, 0, 2, 1])]; tensor<fp16, [1, 2, 2, 3]> y = crop_resize(x = img, boxes = b, target_height = int32(2), target_width = int32(3), spatial_scale = fp32(0x1p+0));`,
		`tensor<fp16, [1, 6]> m = const()[val = tensor<fp16, [1, 6]>([1, 2, 3, 4, 5, 6])]; tensor<fp16, [1, 2, 2, 2]> y = affine(x = img, transform_matrix = m, output_height = int32(2), output_width = int32(2), sampling_mode = string("bilinear"), padding_mode = string("symmetric"), padding_value = fp16(0x0p+0), coordinates_mode = string("unnormalized"), align_corners = bool(true));`,
		`tensor<fp16, [3, 1, 3]> a = einsum(values = (img, img), equation = string("abcd,abed->cae")); tensor<fp16, [1, 2, 3, 3]> y = scaled_dot_product_attention(query = img, key = img, value = img, attn_mask = img);`,
		`tensor<fp16, [1, 2, 3, 3]> a = l2_pool(x = img, kernel_sizes = tensor<int32, [2]>([2, 2]), pad_type = string("same")); tensor<fp16, [1, 2, 3, 3]> b = local_response_norm(x = a, size = int32(3)); tensor<int32, [1, 2, 3]> y = reduce_argmax(x = b, axis = int32(-1));`,
		`tensor<fp16, [1, 3, 3]> a = slice_by_index(x = img, begin = tensor<int32, [4]>([0, 0, 0, 0]), end = tensor<int32, [4]>([1, 1, 3, 3]), squeeze_mask = tensor<bool, [4]>([true, false, false, false])); tensor<fp16, [3, 1]> h = const()[val = tensor<fp16, [3, 1]>([0, 0, 0])]; tensor<fp16, [3, 3]> i = const()[val = tensor<fp16, [3, 3]>([1, 2, 3, 4, 5, 6, 7, 8, 9])]; tensor<fp16, [3, 1]> w = const()[val = tensor<fp16, [3, 1]>([1, 2, 3])]; tensor<fp16, [1, 3, 1]> z, tensor<fp16, [3, 1]> y = gru(x = a, initial_h = h, weight_ih = i, weight_hh = w, reset_after = bool(true));`,
	} {
		all = append(all, program(x, strings.ReplaceAll(body, "; ", ";\n"), "y"))
	}
	return all
}

// FuzzCompileRun compiles any text and, when its values are small, runs it.
func FuzzCompileRun(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { compileAndRun(t, text) })
}

func compileAndRun(t *testing.T, text string) {
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	defer cancel()
	dev, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, dev.Close()) }()
	m, err := dev.Compile(ctx, ane.Source{File: "fuzz.mil", Text: []byte(text)})
	if err != nil {
		if errors.Is(err, ane.ErrDeadline) {
			t.Fatalf("compiling takes longer than %v\n%s", await.Patience, text)
		}
		var list mil.ErrorList
		require.True(t, errors.As(err, &list) && list[0].Pos.Known(), "%v\n%s", err, text)
		return
	}
	defer func() { require.NoError(t, m.Close(context.Background())) }()
	room := 0
	for _, l := range append(m.Inputs(), m.Outputs()...) {
		room += l.Bytes()
	}
	if room > 1<<20 || m.Load(ctx) != nil { // scratch may exceed this machine's memory
		return
	}
	mem := memory{t: t, kind: 1}
	in, out := map[string]*ane.Tensor{}, map[string]*ane.Tensor{}
	for _, l := range m.Inputs() {
		in[l.Name] = mem.tensor(l)
	}
	for _, l := range m.Outputs() {
		out[l.Name] = mem.tensor(l)
	}
	defer mem.close()
	r, err := m.Bind(in, out)
	require.NoError(t, err)
	short, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if _, err = m.Evaluate(short, r); err != nil {
		require.ErrorIs(t, err, ane.ErrDeadline)
	}
	require.NoError(t, r.Close())
}

// hostile are numbers that overflow, wrap around or exceed limits.
var hostile = []string{"0", "1", "-1", "2", "3", "-3", "5", "100", "65536", "2147483647", "-2147483648"}

// FuzzSettingsRun replaces the numbers of the seeds. The inferred types rarely
// equal the declared ones, so the declarations are corrected from the messages.
func FuzzSettingsRun(f *testing.F) {
	all := seeds()
	for i := range all {
		f.Add([]byte{byte(i), 200, 200, 200, 1})
		f.Add([]byte{byte(i), 3, 2, 1, 0})
	}
	f.Fuzz(func(t *testing.T, pick []byte) {
		if len(pick) == 0 {
			return
		}
		text := all[int(pick[0])%len(all)]
		text = rewrite(text, pick[1:])
		for range 4 { // declare the types that the messages infer
			_, err := mil.Parse("fuzz.mil", []byte(text))
			if err != nil {
				return
			}
			fixed := redeclare(text)
			if fixed == text {
				break
			}
			text = fixed
		}
		compileAndRun(t, text)
	})
}

// rewrite replaces the numbers between parentheses. A byte of 200 or more keeps
// its number.
func rewrite(text string, pick []byte) string {
	var out strings.Builder
	depth := 0 // of angle brackets; types are kept
	for i := range len(text) {
		c := text[i]
		switch c {
		case '<':
			depth++
		case '>':
			depth--
		}
		start := i > 60 && depth == 0 && c >= '0' && c <= '9' && strings.ContainsRune("([ ", rune(text[i-1])) &&
			!strings.HasPrefix(text[i:], "0.")
		if !start || len(pick) == 0 {
			out.WriteByte(c)
			continue
		}
		if p := pick[0]; p >= 200 {
			out.WriteByte(c)
		} else {
			out.WriteString(hostile[int(p)%len(hostile)])
		}
		pick = pick[1:]
	}
	return out.String()
}

// redeclare compiles text and writes the inferred type into the first line that
// declares another.
func redeclare(text string) string {
	dev, _ := ane.Open(soft.New(), "")
	m, err := dev.Compile(context.Background(), ane.Source{Text: []byte(text)})
	if m != nil {
		_ = m.Close(context.Background())
	}
	_ = dev.Close()
	var list mil.ErrorList
	if !errors.As(err, &list) || !strings.Contains(list[0].Msg, "Expected ") {
		return text
	}
	expected, _, _ := strings.Cut(strings.SplitAfter(list[0].Msg, "Expected ")[1], ";")
	rows := strings.Split(text, "\n")
	row := rows[list[0].Pos.Line-1]
	at := list[0].Pos.Col - 1
	end := strings.IndexByte(row[at:], ' ')
	if strings.HasPrefix(row[at:], "tensor") {
		end = strings.IndexByte(row[at:], '>') + 1
	}
	rows[list[0].Pos.Line-1] = row[:at] + expected + row[at+end:]
	return strings.Join(rows, "\n")
}
