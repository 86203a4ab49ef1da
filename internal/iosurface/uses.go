package iosurface

// Uses returns how often this process has marked the surface as in use, and whether any process has. known is false if
// the library does not tell.
func (s *Surface) Uses() (count int, inUse, known bool) {
	if s.table.UseCount == nil || s.table.InUse == nil {
		return 0, false, false
	}
	return int(s.table.UseCount(s.Ref)), s.table.InUse(s.Ref), true
}
