//go:build !linux || macrules

package server

// thisProcess is never asked for: no client reaches a broker on this system.
func thisProcess() allowance {
	return allowance{mappings: 1 << 14, files: 1 << 10, memory: 1 << 30, clients: MaxClients}
}
