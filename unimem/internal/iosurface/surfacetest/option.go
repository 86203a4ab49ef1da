package surfacetest

import (
	"github.com/anekit/anekit/unimem/internal/iosurface"
	"github.com/anekit/anekit/unimem/internal/settings"
)

// On returns the unimem.Option that opens memory on the library with this table.
func On(t *iosurface.Table) func(*settings.Settings) {
	return func(s *settings.Settings) { s.Surfaces(t) }
}
