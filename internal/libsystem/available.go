package libsystem

// AvailableMemory returns the bytes of memory that processes can use without being killed: the part that
// kern.memorystatus_level states, in percent of all.
func AvailableMemory() (int64, error) {
	all, err := SysctlUint64("hw.memsize")
	if err != nil {
		return 0, err
	}
	level, err := SysctlUint64("kern.memorystatus_level")
	if err != nil {
		return 0, err
	}
	return int64(all / 100 * min(level, 100)), nil
}
