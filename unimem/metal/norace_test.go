//go:build !race

package metal

const racing = false
