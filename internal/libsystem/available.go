package libsystem

// AvailableMemory returns the bytes of memory that processes can use before macOS kills any: the percentage of all
// memory that kern.memorystatus_level states.
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
