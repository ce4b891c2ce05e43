(* Soft cuts as a program: whole numbers and lists, given the coins. It is computed beside the kernels of
   src/sfumato/groups/_soft_kernels.py, whose names it has, on the same tables; twin_proof.v proves that it does what soft_cuts.v says. *)
From mathcomp Require Import all_ssreflect.
From Sfumato Require Import coins soft_cuts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Twin.
Variables (P E : Type) (events : seq E) (has : E -> P -> bool).
Variables (over under : E -> nat).                   (* the bound of an event is over / under *)
Variable candidates : seq P -> seq (pred P).         (* who would be on the left side, in the order of trial *)
Variables (coin_over coin_under : nat -> nat).       (* q in a box of so many people *)
Variable tests : nat.
Variables (shown fine : nat).                        (* accounts are shown in units of 1/shown, and kept in units of 1/(shown·fine) *)
Variable leading : nat -> nat -> nat -> nat.         (* of the box from low to high, in each test: coins that refuse before one does not *)

Definition tally (s : seq P) (e : E) : nat := seq.count (has e) s.
Definition room (size account : nat) : nat := shown + size.-1 * (account %/ fine).
Definition need (e : E) (k : nat) : nat := if over e == under e then 0 else (shown * k * under e + (over e).-1) %/ over e.

Fixpoint cap (e : E) (space count : nat) : nat :=
  if need e count <= space then count else if count is count'.+1 then cap e space count' else 0.

Definition keeps (h : E -> nat) (size account : nat) : bool := all (fun e => need e (h e) <= room size account) events.
Definition possible (h : E -> nat) (left right account : nat) : bool :=
  all (fun e => h e <= cap e (room left account) (h e) + cap e (room right account) (h e)) events.
Definition after (size account : nat) : nat := account * coin_over size %/ coin_under size.

Definition before_test (h : E -> nat) (left right account made : nat) : verdict :=
  if keeps h (minn left right) account then Safe
  else if made == tests then Next
  else if ~~ keeps h (left + right) (after (left + right) account) then Next
  else if ~~ possible h left right account then Next
  else Try.

(* Whether no more coins refuse than there is slack: on each side there is room for so many people more of every event that could
   exceed its cap. *)
Definition passes (h here : E -> nat) (left right account refusing : nat) : bool :=
  (refusing <= left + right) &&
  all (fun e => let ours := cap e (room left account) (h e) in let theirs := cap e (room right account) (h e) in
                ((ours < h e) ==> (here e + refusing <= ours)) && ((theirs < h e) ==> (h e + refusing <= theirs + here e))) events.

Definition joined (how : transcript -> transcript -> transcript) (one two : option (transcript * seq (seq P * nat))) :=
  if one is Some (t1, b1) then if two is Some (t2, b2) then Some (how t1 t2, b1 ++ b2) else None else None.
Definition followed (how : transcript -> transcript) (one : option (transcript * seq (seq P * nat))) :=
  if one is Some (t, b) then Some (how t, b) else None.

(* The transcript and the final boxes with their accounts; None where the steps that are allowed do not suffice. *)
Fixpoint cut (steps low : nat) (s : seq P) (account made : nat) (cs : seq (pred P)) : option (transcript * seq (seq P * nat)) :=
  if steps is steps'.+1 then
    if cs is a :: others then
      let l := filter a s in let r := filter (fun p => ~~ a p) s in
      let left := size l in let right := size r in let h := tally s in
      let sides how := joined how (cut steps' low l account 0 (candidates l))
                                  (cut steps' (low + left) r account 0 (candidates r)) in
      match before_test h left right account made with
      | Safe => sides Safely
      | Next => followed Skipped (cut steps' low s account made others)
      | Try => if passes h (tally l) left right account (leading low (low + size s) made) then sides Passed
               else followed Refused (cut steps' low s (after (size s) account) made.+1 others)
      end
    else Some (Final, [:: (s, account)])
  else None.

End Twin.

(** Candidates of numeric columns, as groups/cuts.py lists them: columns by falling width, equal ones in their own order, of each the
    most even boundary, the first of equally even ones, if neither side is below the floor. *)
Section Candidates.
Variables (P : Type) (columns : seq (P -> nat)) (people : seq P) (floor : nat).

Definition least (f : P -> nat) (s : seq P) : nat := if s is p :: s' then foldr (fun u m => minn (f u) m) (f p) s' else 0.
Definition greatest (f : P -> nat) (s : seq P) : nat := foldr (fun u m => maxn (f u) m) 0 s.
Definition width (f : P -> nat) (s : seq P) : nat := greatest f s - least f s.

(* width of f in s, as a part of its width in the table, is larger than that of g *)
Definition wider (s : seq P) (f g : P -> nat) : bool := width g s * maxn (width f people) 1 < width f s * maxn (width g people) 1.

Fixpoint insert (s : seq P) (f : P -> nat) (fs : seq (P -> nat)) : seq (P -> nat) :=
  if fs is g :: fs' then if wider s g f then g :: insert s f fs' else f :: g :: fs' else [:: f].
Definition by_width (s : seq P) : seq (P -> nat) := foldr (insert s) [::] columns.

Definition smaller (f : P -> nat) (s : seq P) (c : nat) : nat :=
  let left := seq.count (fun p => f p <= c) s in minn left (size s - left).

(* the best of the boundaries from c on, for so many codes *)
Fixpoint even (f : P -> nat) (s : seq P) (c codes best : nat) : nat :=
  if codes is codes'.+1 then even f s c.+1 codes' (if smaller f s best < smaller f s c then c else best) else best.

Definition quasi_candidates (s : seq P) : seq (pred P) :=
  flatten [seq (let c := even f s (least f s) (width f s).+1 (least f s) in
                if (0 < width f s) && (floor <= smaller f s c) && (0 < smaller f s c) then [:: (fun p => f p <= c)] else [::]) | f <- by_width s].
End Candidates.

(** q = 1 - patience / size, at least 7/10 (groups/soft.py, `refusing`). *)
Definition low_chance (patience size : nat) : bool := 10 * size < 7 * size + 10 * patience.
Definition refusing_over (patience size : nat) : nat := if low_chance patience size then 7 else size - patience.
Definition refusing_under (patience size : nat) : nat := if low_chance patience size then 10 else size.
