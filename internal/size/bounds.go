package main

import (
	"fmt"
	"strings"
)

// The bounds of the whole house.
const (
	maxLines, maxAssembly      = 139_600, 4_500 // of Go outside tests, of assembly written by hand
	maxPublic, maxExported     = 30, 1_780      // packages, names
	maxPackage, maxPackageFile = 6_000, 45      // lines and files of a package
)

// part is a part of the house: some packages, and how many lines of Go they may have together.
type part struct {
	name    string
	folders []string // "a/" stands for a and the folders below it
	bound   int      // 0 for none
}

// parts are tried in order: the first one that has a folder counts it.
var parts = []part{
	{"dma, nvme, dart", []string{"unimem/dma/", "internal/nvme/", "internal/dart/"}, 4_000},
	{"GPU, Wasm, decoder, actor", []string{"unimem/metal/", "unimem/vulkan/", "unimem/wasm/", "ane/wasm/",
		"ane/hal/metal/", "ane/hal/vulkan/", "ane/hal/internal/", "models/", "internal/chat/", "internal/quotient/"}, 19_600},
	{"Core ML's files", []string{"ane/mil/coreml/"}, 2_800},
	{"programs, operators, software engine", []string{"ane/mil/", "ane/chip/", "ane/cost/", "internal/ops/",
		"internal/remark/",
		"internal/element/", "internal/numerics/", "internal/asm/", "internal/engine/emulate/",
		"internal/engine/soft", "internal/engine/soft/plan/", "internal/engine/soft/kernels/",
		"internal/engine/soft/detect/", "internal/engine/soft/matrix/", "internal/engine/soft/run/",
		"internal/engine/soft/spatial/", "internal/engine/soft/weighted/", "internal/engine/soft/peak/",
		"internal/engine/soft/internal/"}, 38_310},
	{"memory, tensors, weights, caches", []string{"unimem", "unimem/internal/", "unimem/safetensors/", "ane", "ane/kv/",
		"ane/weights/", "ane/hal/", "ane/dlpack/", "ane/engine"}, 17_970},
	{"broker and driver", []string{"ane/engine/broker/", "internal/engine/broker/", "internal/engine/driverabi/"},
		13_080},
	{"Apple's path and its stand-in", []string{"objcbridge/", "internal/engine/apple/", "internal/engine/standin/",
		"internal/engine/observe/"}, 8_970},
	{"suites and test tools", []string{"internal/enginetest/", "internal/haltest/", "internal/blocktest/",
		"internal/bridgetest/", "internal/brokertest/", "internal/decodertest/", "internal/leaktest/",
		"internal/dumptest/", "internal/ringtest/",
		"internal/fusetest/", "internal/fakeiokit/", "internal/iosurface/surfacetest/", "internal/engine/faulty/",
		"internal/guestbuild/", "internal/casecover/", "internal/macskips/", "internal/mactypes/", "internal/effort/",
		"internal/step/", "internal/await/", "internal/size/", "internal/house/", "internal/hostile/"}, 5_700},
	{"command and measurements", []string{"cmd/", "internal/measure/", "internal/membench/", "internal/tripbench/",
		"internal/weightbench/", "internal/decoderbench/", "internal/growthbench/", "internal/engine/soft/kernbench/"}, 21_800},
	{"what several share, examples", []string{"/"}, 0},
}

// has reports whether a folder is of the part.
func (p *part) has(folder string) bool {
	for _, f := range p.folders {
		if f == "/" || f == folder || strings.HasSuffix(f, "/") && strings.HasPrefix(folder+"/", f) {
			return true
		}
	}
	return false
}

// byPart counts the lines of each part.
func (h *house) byPart() []int {
	all := make([]int, len(parts))
	for _, r := range h.rooms {
		for i := range parts {
			if parts[i].has(r.folder) {
				all[i] += r.lines
				break
			}
		}
	}
	return all
}

// beyond returns a line for each bound that the house exceeds.
func (h *house) beyond() (over []string) {
	check := func(what string, n, bound int) {
		if bound > 0 && n > bound {
			over = append(over, fmt.Sprintf("%s: %d, at most %d", what, n, bound))
		}
	}
	check("lines of Go outside tests", h.lines, maxLines)
	check("lines of assembly", h.assembly, maxAssembly)
	check("public packages", h.public, maxPublic)
	check("names that these export", h.exported, maxExported)
	for i, n := range h.byPart() {
		check("lines of "+parts[i].name, n, parts[i].bound)
	}
	for _, r := range h.rooms {
		check("lines of "+r.folder, r.lines, maxPackage)
		check("files of "+r.folder, r.files, maxPackageFile)
	}
	return over
}
