package dma

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

var (
	entries = regexp.MustCompile(`(?s)\t\[(kAnekitDMA\w+)\] = \{(.*?)\},`)
	limits  = regexp.MustCompile(`\.check(\w+) = ([\w()]+),`)
	members = regexp.MustCompile(`(?m)^\t(?:virtual )?([\w *]+?) ?\b(\w+)\(([^)]*)\)[\w ]*;`)
)

// shape is what one call of IOConnectCallMethod passes: numbers of scalars, and bytes of structures.
type shape struct{ in, inBytes, out, outBytes int }

// accepted reads the calls that an extension accepts from the dispatch table of its source: system and extension refuse
// other ones.
func accepted(t *testing.T, source string) map[int]shape {
	numbers, _, sizes := readHeader(t)
	all := map[int]shape{}
	for _, e := range entries.FindAllStringSubmatch(read(t, source), -1) {
		if e[2] == "" {
			continue
		}
		got := map[string]int{}
		for _, f := range limits.FindAllStringSubmatch(e[2], -1) {
			if name, found := strings.CutPrefix(f[2], "sizeof("); found {
				got[f[1]] = sizes[strings.TrimSuffix(name, ")")]
				require.NotZero(t, got[f[1]], f[0])
				continue
			}
			if f[1] == "CompletionExists" {
				require.Equal(t, "false", f[2], "the client waits for the return")
				continue
			}
			n, err := strconv.Atoi(f[2])
			require.NoError(t, err, f[0])
			got[f[1]] = n
		}
		require.Len(t, got, 4, "%s checks every part of the call", e[1])
		number, found := numbers[e[1]]
		require.True(t, found, e[1])
		all[number] = shape{got["ScalarInputCount"], got["StructureInputSize"], got["ScalarOutputCount"],
			got["StructureOutputSize"]}
	}
	return all
}

// What the client sends for each selector is what the source of the extension accepts, and it accepts nothing else.
func TestCallsAreThoseOfTheSources(t *testing.T) {
	table, _ := answers(protocolVersion, func(_ uint32, out []byte) (int, int32) {
		return put(out, reply{Command: 5, Covered: PageSize, Count: 1, Segments: [MaxSegments]Segment{{1 << 32,
			PageSize}}}), 0
	})
	memory := make([]byte, PageSize)
	table.Map = func(uint32, uint32) ([]byte, int32) { return memory, 0 }
	table.Unmap = func(uint32, uint32, []byte) int32 { return 0 }
	sent := map[int]shape{}
	answer := table.Call
	table.Call = func(c, selector uint32, in []uint64, inBytes []byte, out []uint64, outBytes []byte) (n, bytes int,
		code int32) {
		sent[int(selector)] = shape{len(in), len(inBytes), len(out), len(outBytes)}
		return answer(c, selector, in, inBytes, out, outBytes)
	}
	d, err := connectTo(t.Context(), table, extensionService)
	require.NoError(t, err)
	b, err := unimem.Open(PageSize, unimem.OnHeap())
	require.NoError(t, err)
	dev := New(d)
	_, err = dev.Segments(b)
	require.NoError(t, err)
	require.NoError(t, dev.Close())
	require.NoError(t, b.Close())

	a, err := newAllocator(t.Context(), table)
	require.NoError(t, err)
	own, _, err := a.Allocate(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, own.Close())
	require.NoError(t, a.Close())
	require.Equal(t, accepted(t, "dext/dext_dma/AnekitDMAClient.cpp"), sent)
}

// Each function that an .iig file declares has its definition in the .cpp file, and the other way round: as a method of
// the class, or by IMPL, as those that iig dispatches.
func TestDeclarationsHaveDefinitions(t *testing.T) {
	for folder, classes := range map[string][]string{
		"dext_dma": {"AnekitDMADriver", "AnekitDMAClient"},
	} {
		for _, class := range classes {
			source := read(t, "dext/"+folder+"/"+class+".cpp")
			declared := map[string]bool{}
			for _, m := range members.FindAllStringSubmatch(read(t, "dext/"+folder+"/"+class+".iig"), -1) {
				declared[m[2]] = true
			}
			require.NotEmpty(t, declared)
			defined := map[string]bool{}
			for _, form := range []string{`(?m)^%s::(\w+)\(`, `(?m)^IMPL\(%s, (\w+)\)`} {
				for _, m := range regexp.MustCompile(fmt.Sprintf(form, class)).FindAllStringSubmatch(source, -1) {
					require.False(t, defined[m[1]], "%s::%s twice", class, m[1])
					defined[m[1]] = true
				}
			}
			require.Equal(t, declared, defined, class)
			for _, number := range []string{"544", "16384", " 32"} {
				require.NotContains(t, source, number, "numbers of the protocol are those of protocol.h")
			}
		}
	}
}
