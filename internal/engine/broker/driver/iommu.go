package driver

import (
	"slices"
	"sort"
)

// The device's address space. The page is Apple's; where the space begins and ends is
// ours: after the first 4 GiB, so that a truncated address is never a valid one, and
// 1 TiB long, as far as a tensor may reach (ane.MaxBytes).
const (
	pageSize    = 16 << 10
	deviceStart = 4 << 30
	deviceEnd   = deviceStart + 1<<40
)

// span is a run of device addresses [at, at+size), in whole pages.
type span struct{ at, size uint64 }

// iommu hands out device addresses. The zero value has none; newIOMMU has all.
type iommu struct {
	free []span // by address, none empty, no two adjacent
}

func newIOMMU() *iommu { return &iommu{free: []span{{deviceStart, deviceEnd - deviceStart}}} }

// take returns the lowest free range that holds size bytes, and whether there is one.
func (m *iommu) take(size uint64) (span, bool) {
	if size == 0 || size > deviceEnd-deviceStart {
		return span{}, false
	}
	size = (size + pageSize - 1) / pageSize * pageSize
	for i := range m.free {
		f := &m.free[i]
		if f.size < size {
			continue
		}
		s := span{f.at, size}
		f.at, f.size = f.at+size, f.size-size
		if f.size == 0 {
			m.free = slices.Delete(m.free, i, i+1)
		}
		return s, true
	}
	return span{}, false
}

// give takes back what take returned and joins it with its free neighbours.
func (m *iommu) give(s span) {
	i := sort.Search(len(m.free), func(i int) bool { return m.free[i].at > s.at })
	if i < len(m.free) && s.at+s.size == m.free[i].at {
		m.free[i].at, m.free[i].size = s.at, m.free[i].size+s.size
	} else {
		m.free = slices.Insert(m.free, i, s)
	}
	if i > 0 && m.free[i-1].at+m.free[i-1].size == m.free[i].at {
		m.free[i-1].size += m.free[i].size
		m.free = slices.Delete(m.free, i, i+1)
	}
}
