package dma

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma/internal/iokit"
)

var (
	defines = regexp.MustCompile(`(?m)^#define (\w+) (\d+)$`)
	enums   = regexp.MustCompile(`(?m)^\t(k\w+) = (\d+)`)
	structs = regexp.MustCompile(`(?s)struct (\w+) \{\n(.*?)\n\};`)
	fields  = regexp.MustCompile(`(?m)^\t(struct )?(\w+) (\w+)(\[\w+\])?;`)
)

// field is a member of a struct of C: its offset and size in bytes.
type field struct {
	name         string
	offset, size int
}

// readHeader reads the numbers and the structs of protocol.h, laid out as C does.
func readHeader(t *testing.T) (numbers map[string]int, layouts map[string][]field, sizes map[string]int) {
	text, err := os.ReadFile("dext/protocol.h")
	require.NoError(t, err)
	numbers, layouts = map[string]int{}, map[string][]field{}
	for _, m := range append(defines.FindAllStringSubmatch(string(text), -1), enums.FindAllStringSubmatch(string(text),
		-1)...) {
		numbers[m[1]], err = strconv.Atoi(m[2])
		require.NoError(t, err)
	}
	sizes = map[string]int{"uint64_t": 8, "uint32_t": 4}
	aligned := map[string]int{"uint64_t": 8, "uint32_t": 4}
	for _, m := range structs.FindAllStringSubmatch(string(text), -1) {
		at, most := 0, 1
		for _, f := range fields.FindAllStringSubmatch(m[2], -1) {
			size := sizes[f[2]]
			require.NotZero(t, size, "type %s", f[2])
			if f[4] != "" {
				size *= numbers[strings.Trim(f[4], "[]")]
			}
			most = max(most, aligned[f[2]])
			at = (at + aligned[f[2]] - 1) / aligned[f[2]] * aligned[f[2]]
			layouts[m[1]] = append(layouts[m[1]], field{f[3], at, size})
			at += size
		}
		sizes[m[1]], aligned[m[1]] = (at+most-1)/most*most, most
	}
	return numbers, layouts, sizes
}

// Selectors, sizes and offsets of the client are those of protocol.h.
func TestProtocolIsThatOfTheHeader(t *testing.T) {
	numbers, layouts, sizes := readHeader(t)
	require.Equal(t, map[string]int{
		"ANEKIT_DMA_VERSION": protocolVersion, "ANEKIT_DMA_MAX_SEGMENTS": MaxSegments, "ANEKIT_DMA_PAGE": PageSize,
		"kAnekitDMAVersion": selectVersion, "kAnekitDMAPrepare": selectPrepare, "kAnekitDMAComplete": selectComplete,
		"kAnekitDMAAllocate": selectAllocate, "kAnekitDMASelectors": 4,
		"kAnekitDMAIn": 1, "kAnekitDMAOut": 2, "kAnekitDMAInOut": directionInOut,
	}, numbers)
	for name, of := range map[string]reflect.Type{"AnekitDMASegment": reflect.TypeFor[Segment](),
		"AnekitDMARequest": reflect.TypeFor[request](), "AnekitDMAReply": reflect.TypeFor[reply]()} {
		var want []field
		at := 0
		for i := range of.NumField() {
			f := of.Field(i)
			size := binary.Size(reflect.Zero(f.Type).Interface())
			want = append(want, field{strings.ToLower(f.Name), at, size})
			at += size
		}
		require.Equal(t, want, layouts[name], name)
		require.Equal(t, at, sizes[name], "%s has no padding", name)
	}
	require.Equal(t, requestBytes, sizes["AnekitDMARequest"])
	require.Equal(t, replyBytes, sizes["AnekitDMAReply"])

	b := request{1, 2, 3, 4}.encode()
	require.Equal(t, []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}, b)
}

// at returns a value below the root of a property list, by its keys.
func at(t *testing.T, v any, keys ...string) any {
	t.Helper()
	for _, key := range keys {
		d, ok := v.(plist.Dict)
		require.True(t, ok, "%v: no dictionary above %s", keys, key)
		found := false
		for _, e := range d {
			if e.Key == key {
				v, found = e.Value, true
			}
		}
		require.True(t, found, "no key %s", key)
	}
	return v
}

func read(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// The property lists parse, and their names are those of the sources, of the build script and of the client.
func TestPropertyLists(t *testing.T) {
	script := read(t, "dext/build.sh")
	host, err := plist.ReadFile("dext/host/Entitlements.plist")
	require.NoError(t, err)
	require.Equal(t, true, at(t, host, "com.apple.developer.system-extension.install"))
	var ours plist.Array
	for _, x := range []struct{ folder, id, service, client string }{
		{"dext_dma", "org.anekit.dma.memory", extensionService, "AnekitDMAClient"},
	} {
		folder := "dext/" + x.folder + "/"
		info, err := plist.ReadFile(folder + "Info.plist")
		require.NoError(t, err)
		require.Equal(t, "DEXT", at(t, info, "CFBundlePackageType"))
		require.Equal(t, x.id, at(t, info, "CFBundleIdentifier"))
		require.Equal(t, x.id, at(t, info, "CFBundleExecutable"), "build.sh names the executable so")
		require.NotEmpty(t, at(t, info, "OSBundleUsageDescription"))
		require.Equal(t, plist.Array{"DriverKit"}, at(t, info, "CFBundleSupportedPlatforms"))
		least := at(t, info, "OSMinimumDriverKitVersion")
		require.Contains(t, script, fmt.Sprintf("\ntarget=arm64e-apple-driverkit%s ", least))
		personality := at(t, info, "IOKitPersonalities", x.service)
		for key, want := range map[string]string{"IOClass": "IOUserService", "IOProviderClass": "IOUserResources",
			"IOResourceMatch": "IOKit", "IOUserClass": x.service, "IOUserServerName": x.id, "IOMatchCategory": x.id,
			"CFBundleIdentifierKernel": "com.apple.kpi.iokit"} {
			require.Equal(t, want, at(t, personality, key), "%s of %s", key, x.folder)
		}
		require.Equal(t, "IOUserUserClient", at(t, personality, "UserClientProperties", "IOClass"))
		require.Equal(t, x.client, at(t, personality, "UserClientProperties", "IOUserClass"))
		require.Contains(t, read(t, folder+x.service+".cpp"), `"UserClientProperties"`)
		for class, super := range map[string]string{x.service: "IOService", x.client: "IOUserClient"} {
			require.Contains(t, read(t, folder+class+".iig"), fmt.Sprintf("class %s: public %s\n", class, super))
			require.Contains(t, read(t, folder+class+".cpp"), "struct "+class+"_IVars {")
		}
		entitlements, err := plist.ReadFile(folder + "Entitlements.plist")
		require.NoError(t, err)
		require.Equal(t, true, at(t, entitlements, "com.apple.developer.driverkit"))
		require.Contains(t, script, fmt.Sprintf("\ndext %s %s %s %s\n", x.folder, x.id, x.service, x.client))
		ours = append(ours, x.id)
	}
	require.Equal(t, ours, at(t, host, "com.apple.developer.driverkit.userclient-access"))
	app, err := plist.ReadFile("dext/host/Info.plist")
	require.NoError(t, err)
	require.Equal(t, "activate", at(t, app, "CFBundleExecutable"))
	require.Contains(t, script, "/MacOS/activate")
}

// answers is an IOKit whose extension answers as a test says.
func answers(version uint64, answer func(selector uint32, out []byte) (n int, code int32)) (table *iokit.Table,
	completed *[]uint64) {
	completed = new([]uint64)
	return &iokit.Table{
		Service: func(string) uint32 { return 7 },
		Open:    func(uint32) (uint32, int32) { return 8, 0 },
		Close:   func(uint32) int32 { return 0 },
		Release: func(uint32) int32 { return 0 },
		Call: func(_, selector uint32, in []uint64, _ []byte, out []uint64, outBytes []byte) (int, int, int32) {
			switch selector {
			case selectVersion:
				out[0] = version
				return 1, 0, 0
			case selectComplete:
				*completed = append(*completed, in[0])
				return 0, 0, 0
			}
			n, code := answer(selector, outBytes)
			return 0, n, code
		},
	}, completed
}

// put writes a reply.
func put(out []byte, r reply) int {
	n, err := binary.Encode(out, binary.LittleEndian, r)
	if err != nil {
		panic(err)
	}
	return n
}

// A reply that breaks the rules is refused, and what it has mapped is completed.
func TestRepliesThatBreakTheRules(t *testing.T) {
	b, err := unimem.Open(2*PageSize, unimem.OnHeap())
	require.NoError(t, err)
	const whole = -2
	good := reply{Command: 5, Covered: 2 * PageSize, Count: 1, Segments: [MaxSegments]Segment{{1 << 32, 2 * PageSize}}}
	for name, x := range map[string]struct {
		change    func(*reply)
		bytes     int // of the reply
		completed []uint64
	}{
		"short":         {nil, replyBytes - 1, nil},
		"empty":         {nil, 0, nil},
		"fewer than no": {nil, -1, nil},
		"much too long": {nil, 1 << 40, nil},
		"all":           {func(r *reply) { r.Segments[0].Address = 1<<64 - PageSize }, whole, []uint64{5}},
		"no command":    {func(r *reply) { r.Command = 0 }, 0, nil},
		"no segments":   {func(r *reply) { r.Count = 0 }, whole, []uint64{5}},
		"33 segments":   {func(r *reply) { r.Count = 33 }, whole, []uint64{5}},
		"4 G segments":  {func(r *reply) { r.Count = 1<<32 - 1 }, whole, []uint64{5}},
		"covers more":   {func(r *reply) { r.Covered++ }, whole, []uint64{5}},
		"too long":      {func(r *reply) { r.Covered, r.Segments[0].Length = 1<<40, 1<<40 }, whole, []uint64{5}},
		"empty segment": {func(r *reply) { r.Covered, r.Segments[0].Length = 0, 0 }, whole, []uint64{5}},
		"odd address":   {func(r *reply) { r.Segments[0].Address++ }, whole, []uint64{5}},
		"overlapping": {func(r *reply) {
			r.Count, r.Segments = 2, [MaxSegments]Segment{{1 << 32, PageSize}, {1 << 32, PageSize}}
		}, whole, []uint64{5}},
		"lengths wrap": {func(r *reply) {
			r.Count, r.Segments = 2, [MaxSegments]Segment{{1 << 32, 1<<64 - PageSize}, {0, 3 * PageSize}}
		}, whole, []uint64{5}},
		"an age": {func(r *reply) { r.Nanoseconds = 1<<64 - 1 }, whole, []uint64{5}},
	} {
		t.Run(name, func(t *testing.T) {
			table, completed := answers(protocolVersion, func(_ uint32, out []byte) (int, int32) {
				r := good
				if x.change != nil {
					x.change(&r)
				}
				n := put(out, r)
				if x.bytes != whole {
					n = x.bytes
				}
				return n, 0
			})
			c, err := connectTo(t.Context(), table, extensionService)
			require.NoError(t, err)
			d := New(c)
			_, err = d.Segments(b)
			require.ErrorIs(t, err, ErrDriver)
			require.Equal(t, x.completed, append([]uint64(nil), *completed...))
			require.NoError(t, d.Close())
		})
	}
	require.NoError(t, b.Close(), "a refused reply retains nothing")
}

// What the extension allocates is refused, and completed, if the client cannot use it.
func TestAllocationsThatBreakTheRules(t *testing.T) {
	good := reply{Command: 6, Covered: 2 * PageSize, Count: 1, Segments: [MaxSegments]Segment{{1 << 32, 2 * PageSize}}}
	memory := make([]byte, 2*PageSize)
	for name, x := range map[string]struct {
		change func(*reply)
		mapped []byte
		code   int32
		want   error
	}{
		"good":  {func(*reply) {}, memory, 0, nil},
		"short": {func(r *reply) { r.Covered, r.Segments[0].Length = PageSize, PageSize }, memory, 0, ErrDriver},
		"odd":   {func(r *reply) { r.Segments[0].Address++ }, memory, 0, ErrDriver},
		"overlapping": {func(r *reply) {
			r.Count, r.Segments = 2, [MaxSegments]Segment{{1 << 32, PageSize}, {1 << 32, PageSize}}
		}, memory, 0, ErrDriver},
		"mapped short": {func(*reply) {}, memory[:PageSize], 0, ErrDriver},
		"not mapped":   {func(*reply) {}, nil, -1, ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			table, completed := answers(protocolVersion, func(selector uint32, out []byte) (int, int32) {
				require.EqualValues(t, selectAllocate, selector)
				r := good
				x.change(&r)
				return put(out, r), 0
			})
			unmapped := 0
			table.Map = func(_, kind uint32) ([]byte, int32) {
				require.EqualValues(t, 6, kind, "the command is the type of the memory")
				return x.mapped, x.code
			}
			table.Unmap = func(uint32, uint32, []byte) int32 { unmapped++; return 0 }
			a, err := newAllocator(t.Context(), table)
			require.NoError(t, err)
			b, segments, err := a.Allocate(t.Context(), 2*PageSize)
			if x.want == nil {
				require.NoError(t, err)
				require.Equal(t, good.Segments[:1], segments)
				require.NoError(t, b.Close())
			} else {
				require.ErrorIs(t, err, x.want)
			}
			require.Equal(t, []uint64{6}, *completed)
			require.Equal(t, unmapped > 0, name == "good" || name == "mapped short")
			require.NoError(t, a.Close())
		})
	}
}

func TestOtherVersion(t *testing.T) {
	table, _ := answers(2, nil)
	_, err := connectTo(t.Context(), table, extensionService)
	require.ErrorIs(t, err, ErrDriver)
	require.ErrorContains(t, err, "version 2, this client 1")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = connectTo(ended, table, extensionService)
	require.ErrorIs(t, err, context.Canceled)
}

func TestReturns(t *testing.T) {
	for code, text := range map[uint32]string{0xe00002db: "call: kIOReturnNoSpace (0xe00002db)", 0x11: "call: 0x11"} {
		require.EqualError(t, &Return{"call", code}, text)
	}
	require.ErrorIs(t, &Return{"call", returnNoSpace}, ErrExhausted)
	require.ErrorIs(t, &Return{"call", sendInvalidDest}, ErrClosed)
	require.NotErrorIs(t, &Return{"call", returnNotFound}, ErrExhausted)
	require.NoError(t, returned("call", 0))
	require.Empty(t, hintOf(nil))
}
