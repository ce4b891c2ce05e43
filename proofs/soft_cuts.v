(* Soft cuts: the procedure, nothing proved. To be read beside src/sfumato/groups/_soft_kernels.py, whose names it has, and the five
   steps of docs/guarantees.md, "Why soft cuts hold against the engineer". Without tests (tests = 0) these are safe cuts. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Sfumato Require Import exchange coins.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Inductive verdict := Safe | Next | Try.

(** A transcript: what became of every candidate of every box. *)
Inductive transcript :=
| Final                                     (* no candidate is left *)
| Skipped of transcript                     (* step 3; what followed in the same box *)
| Safely of transcript & transcript         (* a safe cut; what followed on both sides *)
| Passed of transcript & transcript         (* a test that was passed *)
| Refused of transcript.                    (* a test that was refused *)

Lemma transcript_eq (x y : transcript) : {x = y} + {x <> y}.
Proof. by decide equality. Qed.
Canonical transcript_eqType := EqType transcript (comparableMixin transcript_eq).

Section SoftCuts.
Variables (R : realFieldType) (P V E : finType).   (* numbers; people; what a person has; events: what has a bound *)

(** What is fixed before the first test. None of it sees a world. *)
Variable event : E -> {set V}.                     (* "has x" is the set of what has x in it: a value, a set of values, a bundle *)
Variable bound : E -> R.
Variable candidates : {set P} -> seq {set P}.      (* left sides, in the order of trial; sides below the floor are left out (step 1) *)
Variable coin : nat -> R.                          (* q: the chance that one coin refuses, in a box of so many people *)
Variable tests : nat.                              (* that a box may make *)
Variables keep show : R -> R.                      (* how an account is rounded when it is kept, and when it is shown *)
Variable strata : seq {set P}.                     (* where cutting begins; everybody in one box is [:: setT] *)

Notation world := (world P V).

(** How many people of a box have each event. *)
Definition histogram := {ffun E -> nat}.
Definition count_events (B : {set P}) (w : world) : histogram := [ffun e => count B (event e) w].

(** Caps see histograms, sizes and accounts. *)
Definition room (size : nat) (account : R) : R := 1 + (size.-1)%:R * show account.
Definition fits (c : nat) (e : E) (size : nat) (account : R) : bool := (bound e == 1) || (c%:R <= bound e * room size account).
Definition cap (e : E) (c size : nat) (account : R) : nat := \max_(k < c.+1 | fits k e size account) k.
Definition keeps (h : histogram) (size : nat) (account : R) : bool := [forall e, fits (h e) e size account].
Definition possible (h : histogram) (left right : nat) (account : R) : bool :=
  [forall e, (h e <= cap e (h e) left account + cap e (h e) right account)%N].

(* The least over both sides and all events that could exceed the cap of a side; `here` are the counts of the left one. *)
Definition slack (h here : histogram) (left right : nat) (account : R) : int :=
  \big[Order.min/(left + right)%:Z]_(i : E * bool | (cap i.1 (h i.1) (if i.2 then left else right) account < h i.1)%N)
    (if i.2 then (cap i.1 (h i.1) left account)%:Z - (here i.1)%:Z
     else (cap i.1 (h i.1) right account)%:Z - (h i.1)%:Z + (here i.1)%:Z).

Definition before_test (h : histogram) (left right : nat) (account : R) (made : nat) : verdict :=
  if keeps h (minn left right) account then Safe                                                   (* step 2 *)
  else if [|| made == tests, ~~ keeps h (left + right) (keep (account * coin (left + right))) |
              ~~ possible h left right account] then Next                                          (* step 3 *)
  else Try.

(** The chance that the procedure goes this way in world w, from box B with its account, `made` tests and these candidates left. *)
Fixpoint chance (w : world) (tau : transcript) (B : {set P}) (account : R) (made : nat) (lefts : seq {set P}) : R :=
  match tau, lefts with
  | Final, [::] => 1
  | Final, _ :: _ | _, [::] => 0
  | _, L :: others =>
    let size := #|B| in let left := #|B :&: L| in let right := #|B :\: L| in
    let refused := refusal (coin size) (slack (count_events B w) (count_events (B :&: L) w) left right account) in
    let sides one two := chance w one (B :&: L) account 0 (candidates (B :&: L))
                         * chance w two (B :\: L) account 0 (candidates (B :\: L)) in
    match before_test (count_events B w) left right account made, tau with
    | Next, Skipped rest => chance w rest B account made others
    | Safe, Safely one two => sides one two
    | Try, Passed one two => (1 - refused) * sides one two                                         (* step 4 *)
    | Try, Refused rest => refused * chance w rest B (keep (account * coin size)) made.+1 others   (* step 5 *)
    | _, _ => 0
    end
  end.

(** The final boxes of a transcript with their accounts. They follow from the transcript alone. *)
Fixpoint finals (tau : transcript) (B : {set P}) (account : R) (lefts : seq {set P}) : seq ({set P} * R) :=
  match tau, lefts with
  | Final, _ => [:: (B, account)]
  | Skipped rest, _ :: others => finals rest B account others
  | Refused rest, _ :: others => finals rest B (keep (account * coin #|B|)) others
  | (Safely one two | Passed one two), L :: _ =>
    finals one (B :&: L) account (candidates (B :&: L)) ++ finals two (B :\: L) account (candidates (B :\: L))
  | _, [::] => [::]
  end.

(** A run has a transcript for every stratum; each stratum begins with a whole account. *)
Fixpoint run_chance (w : world) (run : seq transcript) (boxes : seq {set P}) : R :=
  match run, boxes with
  | [::], [::] => 1
  | tau :: run', B :: boxes' => chance w tau B 1 0 (candidates B) * run_chance w run' boxes'
  | _, _ => 0
  end.

Fixpoint run_finals (run : seq transcript) (boxes : seq {set P}) : seq ({set P} * R) :=
  match run, boxes with
  | tau :: run', B :: boxes' => finals tau B 1 (candidates B) ++ run_finals run' boxes'
  | _, _ => [::]
  end.

(** What may be published: final boxes, their accounts as shown, and how many people of each have what. *)
Definition values (B : {set P}) (w : world) : {ffun V -> nat} := [ffun v => count B [set v] w].
Definition published := seq ({set P} * R * {ffun V -> nat}).
Definition release (run : seq transcript) (w : world) : published :=
  [seq (b.1, show b.2, values b.1 w) | b <- run_finals run strata].

(** How likely a release is in a world, over any runs, and how much the engineer weighs the world once she saw it; the same of what
    is shown of a release, by any function. *)
Definition likelihood (runs : seq (seq transcript)) (r : published) (w : world) : R :=
  \sum_(run <- runs | release run w == r) run_chance w run strata.
Definition weight (prior : world -> R) runs (r : published) (w : world) : R := prior w * likelihood runs r w.
Definition weight_shown (Z : eqType) (view : published -> Z) (prior : world -> R) runs (z : Z) (w : world) : R :=
  prior w * \sum_(run <- runs | view (release run w) == z) run_chance w run strata.

End SoftCuts.
