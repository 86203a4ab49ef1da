//go:build darwin || macrules

package host

const linux, mac = false, true
