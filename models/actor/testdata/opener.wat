;; A guest whose _initialize opens a cache, which the first call closes. Its third call traps after it has changed its
;; memory.
(module
  (import "anekit" "cache_open" (func $open (param i32 i32 i32 i32) (result i32)))
  (import "anekit" "cache_close" (func $close (param i32) (result i32)))
  (memory (export "memory") 1 1)
  (global $cache (mut i32) (i32.const 0))
  (func (export "_initialize")
    (global.set $cache (call $open (i32.const 1) (i32.const 1) (i32.const 1) (i32.const 1))))
  (func (export "next") (result i32)
    (if (global.get $cache) (then
      (drop (call $close (global.get $cache)))
      (global.set $cache (i32.const 0))))
    (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1)))
    (if (i32.eq (i32.load (i32.const 8)) (i32.const 3)) (then unreachable))
    (i32.load (i32.const 8))))
