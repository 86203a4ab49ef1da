package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// file is a file of a header's text and n bytes of tensors.
func file(text string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return append(append(b, text...), make([]byte, n)...)
}

// one is the description of a tensor.
func one(name, dtype, shape string, begin, end int) string {
	return fmt.Sprintf(`"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`, name, dtype, shape, begin, end)
}

// keys are n different keys of metadata.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%x":"",`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// parse parses a whole file, as Open does.
func parse(b []byte) (*header, error) {
	if len(b) < lead {
		return nil, ErrTruncated
	}
	n, err := headerLength(b, int64(len(b)))
	if err != nil {
		return nil, err
	}
	return parseHeader(bytes.Clone(b[lead:lead+n]), int64(len(b)))
}

func TestHeadersThatAreAccepted(t *testing.T) {
	deep := strings.Repeat("[", 20) + strings.Repeat("]", 20)
	for name, c := range map[string]struct {
		b     []byte
		names []string
	}{
		"no tensors":        {file(`{}`, 0), nil},
		"metadata only":     {file(`{"__metadata__":{"a":"b"}}`, 0), nil},
		"metadata of null":  {file(`{"__metadata__": null ,`+one("a", "U8", "[1]", 0, 1)+`}`, 1), []string{"a"}},
		"spaces at the end": {file(`{}     `, 0), nil},
		"white space inside": {
			file("{ \n\"a\" : { \"dtype\" :\t\"U8\",\"shape\":[ 2 , 1 ],\"data_offsets\":[0 , 2]} }", 2), []string{"a"},
		},
		"any order of files": {
			file(`{`+one("b", "I16", "[2]", 2, 6)+","+one("a", "U8", "[2]", 0, 2)+`}`, 6), []string{"a", "b"},
		},
		"an empty tensor": {
			file(`{`+one("a", "U8", "[2]", 0, 2)+","+one("e", "F32", "[3,0]", 2, 2)+`}`, 2), []string{"a", "e"},
		},
		"an empty name": {file(`{`+one("", "U8", "[2]", 0, 2)+`}`, 2), []string{""}},
		"escapes":       {file(`{`+one(`\u00e4\ud83d\ude00\n\"`, "U8", "[]", 0, 1)+`}`, 1), []string{"ä😀\n\""}},
		"unknown fields": {file(`{"a":{"x":`+deep+`,"dtype":"U8","y":-1.5e-3,"z":[true,false,null,{"k":"v"}],`+
			`"shape":[1],"data_offsets":[0,1]}}`, 1), []string{"a"}},
		"packed": {file(`{`+one("a", "F4", "[2,3]", 0, 3)+","+one("b", "F6_E2M3", "[4]", 3, 6)+`}`, 6),
			[]string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := parse(c.b)
			require.NoError(t, err)
			var names []string
			for i := range h.records {
				names = append(names, h.name(&h.records[i]))
			}
			require.Equal(t, c.names, names)
		})
	}
}

func TestHeadersThatAreRefused(t *testing.T) {
	a := one("a", "U8", "[2]", 0, 2)
	for name, c := range map[string]struct {
		b   []byte
		err error
	}{
		"no length":                {[]byte{1, 2, 3}, ErrTruncated},
		"a length beyond the file": {file(`{}`, 0)[:9], ErrTruncated},
		"a length beyond 100 MB":   {binary.LittleEndian.AppendUint64(nil, MaxHeader+1), ErrHeader},
		"a negative length":        {binary.LittleEndian.AppendUint64(nil, 1<<63), ErrHeader},
		"an empty header":          {file(``, 10), ErrHeader},
		"a leading space":          {file(` {}`, 0), ErrHeader},
		"an array":                 {file(`[]`, 0), ErrHeader},
		"no end":                   {file(`{`+a, 2), ErrHeader},
		"text after the end":       {file(`{}x`, 0), ErrHeader},
		"a trailing comma":         {file(`{`+a+`,}`, 2), ErrHeader},
		"no comma":                 {file(`{`+a+` `+one("b", "U8", "[0]", 2, 2)+`}`, 2), ErrHeader},
		"a name twice":             {file(`{`+a+`,`+one("a", "U8", "[1]", 2, 3)+`}`, 3), ErrDuplicate},
		"a name twice in a place":  {file(`{`+a+`,`+a+`}`, 2), ErrDuplicate},
		"a name twice, truncated":  {file(`{`+a+`,`+one("a", "U8", "[2]", 2, 4)+`}`, 3), ErrDuplicate},
		"a name twice, escaped":    {file(`{`+a+`,`+one(`\u0061`, "U8", "[1]", 2, 3)+`}`, 3), ErrDuplicate},
		"metadata twice":           {file(`{"__metadata__":{},"__metadata__":{}}`, 0), ErrDuplicate},
		"a key of metadata twice":  {file(`{"__metadata__":{"a":"1","b":"","\u0061":"2"}}`, 0), ErrDuplicate},
		"an empty key twice":       {file(`{"__metadata__":{`+strings.Repeat(`"":"",`, 100)+`"":""}}`, 0), ErrDuplicate},
		"too many keys":            {file(`{"__metadata__":{`+keys(maxNames+1)+`}}`, 0), ErrHeader},
		"metadata of numbers":      {file(`{"__metadata__":{"a":1}}`, 0), ErrHeader},
		"metadata of null twice":   {file(`{"__metadata__":null,"__metadata__":null}`, 0), ErrDuplicate},
		"metadata of null and {}":  {file(`{"__metadata__":null,"__metadata__":{}}`, 0), ErrDuplicate},
		"metadata of nul":          {file(`{"__metadata__":nul}`, 0), ErrHeader},
		"metadata of a list":       {file(`{"__metadata__":[]}`, 0), ErrHeader},
		"an overlap":               {file(`{`+a+`,`+one("b", "U8", "[2]", 1, 3)+`}`, 3), ErrOverlap},
		"the same bytes twice":     {file(`{`+a+`,`+one("b", "U8", "[2]", 0, 2)+`}`, 2), ErrOverlap},
		"a hole":                   {file(`{`+a+`,`+one("b", "U8", "[2]", 3, 5)+`}`, 5), ErrHole},
		"a hole at the start":      {file(`{`+one("b", "U8", "[2]", 1, 3)+`}`, 3), ErrHole},
		"bytes at the end":         {file(`{`+a+`}`, 3), ErrHole},
		"a file too short":         {file(`{`+a+`}`, 1), ErrTruncated},
		"end before begin":         {file(`{`+one("a", "U8", "[2]", 2, 0)+`}`, 2), ErrHeader},
		"a type of no format":      {file(`{`+one("a", "F7", "[2]", 0, 2)+`}`, 2), ErrDType},
		"a type in lower case":     {file(`{`+one("a", "u8", "[2]", 0, 2)+`}`, 2), ErrDType},
		"too few bytes":            {file(`{`+one("a", "F16", "[2]", 0, 2)+`}`, 2), ErrShape},
		"half a byte":              {file(`{`+one("a", "F4", "[3]", 0, 2)+`}`, 2), ErrShape},
		"a shape that overflows":   {file(`{`+one("a", "U8", "[4294967296,4294967296]", 0, 2)+`}`, 2), ErrShape},
		"it overflows before a 0":  {file(`{`+one("a", "U8", "[4294967296,4294967296,0]", 0, 0)+`}`, 0), ErrShape},
		"a size that overflows":    {file(`{`+one("a", "F64", "[2305843009213693952]", 0, 0)+`}`, 0), ErrShape},
		"too many axes": {
			file(`{`+one("a", "U8", "[1"+strings.Repeat(",1", maxAxes)+"]", 0, 1)+`}`, 1), ErrShape,
		},
		"a negative axis":        {file(`{`+one("a", "U8", "[-2]", 0, 2)+`}`, 2), ErrHeader},
		"a fraction":             {file(`{`+one("a", "U8", "[2.0]", 0, 2)+`}`, 2), ErrHeader},
		"an exponent":            {file(`{`+one("a", "U8", "[2e0]", 0, 2)+`}`, 2), ErrHeader},
		"a leading zero":         {file(`{`+one("a", "U8", "[02]", 0, 2)+`}`, 2), ErrHeader},
		"an axis beyond 63 bits": {file(`{`+one("a", "U8", "[9223372036854775808]", 0, 2)+`}`, 2), ErrHeader},
		"three offsets":          {file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2,3]}}`, 2), ErrHeader},
		"no dtype":               {file(`{"a":{"shape":[2],"data_offsets":[0,2]}}`, 2), ErrHeader},
		"no shape":               {file(`{"a":{"dtype":"U8","data_offsets":[0,2]}}`, 2), ErrHeader},
		"no offsets":             {file(`{"a":{"dtype":"U8","shape":[2]}}`, 2), ErrHeader},
		"a field twice": {
			file(`{"a":{"dtype":"U8","shape":[2],"shape":[2],"data_offsets":[0,2]}}`, 2), ErrDuplicate,
		},
		"no UTF-8":              {file("{\"\xff\":1}", 0), ErrHeader},
		"half a surrogate pair": {file(`{`+one(`\ud83d`, "U8", "[]", 0, 1)+`}`, 1), ErrHeader},
		"a control character":   {file("{\"\n\":1}", 0), ErrHeader},
		"values nested too deeply": {
			file(`{"a":{"x":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`}}`, 0), ErrHeader,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(c.b)
			require.ErrorIs(t, err, c.err)
			path := filepath.Join(t.TempDir(), "bad"+extension)
			require.NoError(t, os.WriteFile(path, c.b, 0o600))
			_, err = Open(path)
			require.ErrorIs(t, err, c.err)
			require.ErrorContains(t, err, path)
		})
	}
}

// An error names the tensor, the file and the offset.
func TestErrorsSayWhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+extension)
	text := `{` + one("a", "U8", "[2]", 0, 2) + `,` + one("b", "U8", "[2]", 3, 5) + `}`
	require.NoError(t, os.WriteFile(path, file(text, 5), 0o600))
	_, err := Open(path)
	require.EqualError(t, err, fmt.Sprintf("safetensors: open %s: tensor \"b\" at byte %d: bytes belong to no tensor: "+
		"the tensor before it ends at byte %d", path, lead+len(text)+3, lead+len(text)+2))
}

func TestTypesOfTheFormat(t *testing.T) {
	require.EqualValues(t, 22, U64)
	for d := Bool; d <= U64; d++ {
		back, err := ParseDType(d.String())
		require.NoError(t, err)
		require.Equal(t, d, back)
		require.Positive(t, d.Bits())
	}
	_, err := ParseDType("invalid")
	require.ErrorIs(t, err, ErrDType)
	require.Equal(t, "invalid", DType(200).String())
	require.Zero(t, DType(0).Bits())
	n, err := F6E3M2.Bytes(3, 4)
	require.NoError(t, err)
	require.EqualValues(t, 9, n)
}

// Memory for a header stays below twice its length, and 200 bytes for each name of metadata, whatever it has.
func TestHostileHeadersCostLessThanTwiceTheirLength(t *testing.T) {
	repeat := func(n int, f func(b *strings.Builder, i int)) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			f(&b, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"tensors": `{` + repeat(40_000, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `"%x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, i)
		}) + `}`,
		"escaped fields": `{` + repeat(40_000, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `"%x":{"\u0064type":"U8","shape":[0],"data_offsets":[0,0]}`, i)
		}) + `}`,
		"braces": `{"__metadata__":{"` + strings.Repeat("{", 500_000) + `":""}}`,
		"axes": `{` + repeat(10, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `"%x":{"dtype":"U8","shape":[0`+strings.Repeat(",1", maxAxes-1)+`],"data_offsets":[0,0]}`, i)
		}) + `}`,
		"metadata": `{"__metadata__":{` + keys(maxNames) + `}}`,
		"short names of metadata": `{"__metadata__":{` + repeat(50*50, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `"%c%c":""`, '#'+i/50, '#'+i%50)
		}) + `}}`,
		"escaped metadata": `{"__metadata__":{` + repeat(5000, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `"\u00e4%x":"\u00e4"`, i)
		}) + `}}`,
		"a long string of escapes": `{"__metadata__":{"` + strings.Repeat(`\u00e4`, 50_000) + `":""}}`,
		"colons and braces": `{"__metadata__":{"a":"` + strings.Repeat(":{", 100_000) + `"},` +
			one("a", "U8", "[0]", 0, 0) + `}`,
		"colons": `{"__metadata__":{"a":"` + strings.Repeat(":", 200_000) + `"}}`,
		"nested values": `{"a":{"x":[` + strings.Repeat(strings.Repeat("[", 60)+strings.Repeat("]", 60)+",", 500) +
			`0],"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`,
		"spaces": `{}` + strings.Repeat(" ", 500_000),
	} {
		t.Run(name, func(t *testing.T) {
			b := []byte(text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			h, err := parseHeader(b, int64(lead+len(b)))
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(len(b)+200*len(h.meta)), "beside the text itself")
		})
	}
}

// FuzzHeader holds the parser to encoding/json and to the rules of the format.
func FuzzHeader(f *testing.F) {
	f.Add(file(`{}`, 0))
	f.Add(file(`{"__metadata__":null}`, 0))
	f.Add(file(`{"__metadata__":{"a":"b","\u0063":"\n"},`+
		one("a", "U8", "[2]", 0, 2)+`,`+one("b", "F4", "[2,3]", 2, 5)+`}  `, 5))
	f.Add(file(`{`+one("a", "U8", "[2]", 0, 2)+`,`+one("b", "U8", "[2]", 1, 3)+`}`, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parse(b)
		if err != nil {
			return
		}
		text := b[lead:h.data] // which the parser has not changed: it has a copy
		var all map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &all), "what is accepted is JSON")
		meta := map[string]string{}
		if m, ok := all[metadataKey]; ok && string(m) != "null" {
			require.NoError(t, json.Unmarshal(m, &meta))
		}
		if len(meta) > 0 || len(h.meta) > 0 {
			require.Equal(t, meta, h.meta)
		}
		delete(all, metadataKey)
		require.Len(t, h.records, len(all), "no name occurs twice")
		covered := make([]bool, int64(len(b))-h.data)
		for i := range h.records {
			r := &h.records[i]
			var want struct {
				DType   string  `json:"dtype"`
				Shape   []int   `json:"shape"`
				Offsets []int64 `json:"data_offsets"`
			}
			name := h.name(r)
			require.Contains(t, all, name)
			if i > 0 {
				require.Less(t, h.name(&h.records[i-1]), name)
			}
			if json.Unmarshal(all[name], &want) != nil { // a field in another case, which encoding/json takes too
				continue
			}
			for at := r.begin; at < r.end; at++ {
				require.False(t, covered[at], "no byte belongs to two tensors")
				covered[at] = true
			}
			n, err := r.dtype.Bytes(h.shape(r)...)
			require.NoError(t, err)
			require.Equal(t, r.end-r.begin, n)
		}
		require.NotContains(t, covered, false, "every byte belongs to a tensor")
	})
}
