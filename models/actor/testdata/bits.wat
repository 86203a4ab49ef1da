;; A guest whose tokens are those of the bits of all logits: it takes the prompt with the first one, and reads the logits
;; with the next. Then each of its tokens is one step.
(module
  (import "anekit" "prompt_read" (func $prompt_read (param i32 i32) (result i32)))
  (import "anekit" "prefill" (func $prefill (param i32 i32) (result i32)))
  (import "anekit" "step" (func $step (param i32) (result i32)))
  (import "anekit" "logits" (func $logits (param i32 i32) (result i32)))
  (import "anekit" "vocabulary" (func $vocabulary (result i32)))
  (memory (export "memory") 4)
  (global $said (mut i32) (i32.const 0))
  (global $token (mut i32) (i32.const 7))
  (func $hash (result i32) (local $at i32) (local $end i32) (local $sum i32)
    (local.set $end (i32.shl (call $logits (i32.const 0) (i32.const 65536)) (i32.const 2)))
    (loop $more
      (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (i32.load (local.get $at))))
      (br_if $more (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 4))) (local.get $end))))
    (i32.rem_u (local.get $sum) (call $vocabulary)))
  (func (export "next") (result i32)
    (global.set $said (i32.add (global.get $said) (i32.const 1)))
    (if (i32.eq (global.get $said) (i32.const 1)) (then
      (drop (call $prefill (i32.const 0) (call $prompt_read (i32.const 0) (i32.const 1024))))
      (return (global.get $token))))
    (if (i32.gt_u (global.get $said) (i32.const 2)) (then (drop (call $step (global.get $token)))))
    (global.set $token (call $hash))
    (global.get $token)))
