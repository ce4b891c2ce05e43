(* Who is a person, what she has, and what is shown: several secrets, people with several values, households; and safe cuts.
   docs/guarantees.md, "Several secrets, each protected by itself", "A person with all her rows", "Households", "Why safe boxes hold
   against the engineer". All are cases of soft_proof.v, where what a person has is of any finite kind. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra zify.
From Sfumato Require Import exchange coins soft_cuts soft_proof noisy_boxes.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Procedure.
Variables (R : realFieldType) (P V E : finType) (event : E -> {set V}) (bound : E -> R).
Variables (candidates : {set P} -> seq {set P}) (coin : nat -> R) (tests : nat) (keep show : R -> R) (strata : seq {set P}).
Hypothesis bound_ge0 : forall e, 0 <= bound e.
Hypothesis coin01 : forall n, 0 <= coin n <= 1.
Hypothesis keep_down : forall T, 0 <= T -> 0 <= keep T <= T.
Hypothesis show_down : forall T, 0 <= T -> 0 <= show T <= T.
Hypothesis strata_apart : pairwise (fun A B : {set P} => [disjoint A & B]) strata.
Notation world := (world P V).
Notation weight := (weight event bound candidates coin tests keep show strata).
Notation weight_shown := (weight_shown event bound candidates coin tests keep show strata).

(** Only how many people of each box have each event is shown: not what goes together in one person. *)
Definition events_shown (r : published R P V) : seq ({set P} * R * {ffun E -> nat}) :=
  [seq (b.1.1, b.1.2, [ffun e => (\sum_(v in event e) (b.2 : {ffun V -> nat}) v)%N]) | b <- r].

Theorem events_figure (prior : world -> R) runs z (B : {set P}) (T : R) (counts : {ffun E -> nat}) t e :
  (forall w, 0 <= prior w) -> (B, T, counts) \in z -> 0 <= T -> t \in B ->
  (forall u w, u \in B -> prior (exchange t u w) = prior w) -> 0 < total (weight_shown events_shown prior runs z) ->
  belief (weight_shown events_shown prior runs z) t (event e) <= (counts e)%:R / (1 + (#|B|.-1)%:R * T).
Proof.
move=> prior_ge0 shown T0 tB no_link some; apply: shown_figure => // r seen.
move: shown; rewrite -seen => /mapP[[[B' T'] h] mem [-> -> ->]]; exists h => //; by rewrite ffunE.
Qed.

(** Without tests every account stays whole, and the belief is exactly the share of the box. *)
Section Safe.
Hypothesis no_tests : tests = 0%N.
Hypothesis show1 : show 1 = 1.

Lemma never_tests h left right T :
  before_test bound coin tests keep show (E := E) h left right T 0 = if keeps bound show h (minn left right) T then Safe else Next.
Proof. by rewrite /before_test no_tests. Qed.

Lemma safe_finals tau w (B : {set P}) cs B' T' : chance event bound candidates coin tests keep show w tau B 1 0 cs != 0 ->
  (B', T') \in finals candidates coin keep tau B 1 cs -> T' = 1.
Proof.
elim: tau B cs => [|r IH|a IHa b IHb|a IHa b IHb|r IH] B [|L cs] //=; rewrite ?eqxx ?inE ?never_tests //.
- by move=> _ /eqP[_].
- by case: ifP => _; rewrite ?eqxx //; exact: IH.
- case: ifP => _; rewrite ?eqxx // mulf_eq0 negb_or mem_cat => /andP[ca cb].
  by case/orP; [exact: IHa ca|exact: IHb cb].
all: by case: ifP; rewrite ?eqxx.
Qed.

Lemma safe_run run w boxes B T : run_chance event bound candidates coin tests keep show w run boxes != 0 ->
  (B, T) \in run_finals candidates coin keep run boxes -> T = 1.
Proof.
elim: run boxes => [|tau run IH] [|C boxes] //=; rewrite ?eqxx // mulf_eq0 negb_or mem_cat => /andP[c0 r0].
by case/orP; [exact: safe_finals c0|exact: IH r0].
Qed.

Theorem safe_exact (prior : world -> R) runs r (B : {set P}) (T : R) (h : {ffun V -> nat}) t (S : {set V}) :
  (forall w, 0 <= prior w) -> (B, T, h) \in r -> t \in B -> (forall u w, u \in B -> prior (exchange t u w) = prior w) ->
  0 < total (weight prior runs r) -> belief (weight prior runs r) t S = (\sum_(v in S) h v)%:R / #|B|%:R.
Proof.
move=> prior_ge0 shown tB no_link some; have counted w : weight prior runs r w != 0 -> T = 1 /\ count B S w = (\sum_(v in S) h v)%N.
  move=> /(weight_counts coin01)[run [/(release_box shown)[T0 final [-> ->]] c0 _]].
  by rewrite (safe_run c0 final) show1 count_values.
apply: belief_exact => // [w /counted[]//|u w uB].
have step w' : weight prior runs r w' <= weight prior runs r (exchange t u w').
  have [->|pw] := eqVneq (weight prior runs r w') 0; first exact: weight_ge0.
  have [T1 _] := counted _ pw; rewrite -[X in X <= _]mul1r -{1}T1.
  exact: (weight_exchange event bound candidates tests coin01 keep_down show_down strata_apart runs prior_ge0 shown tB uB (no_link _ _ uB)).
by apply/eqP; rewrite eq_le step andbT -{2}(exchangeK t u w) step.
Qed.

End Safe.

End Procedure.

(** Several secrets, each protected by itself: what a person has is a combination, and how combinations go together is not shown.
    `has_in_column (c, x)` are the combinations with x in column c. *)
Definition secrets_figure (R : realFieldType) (P C X : finType) := 
  @events_figure R P [finType of {ffun C -> X}] [finType of C * X] (@has_in_column C X).

(** A person with all her rows: what she has is a set of values, and events are "has x" and "has one of S" for named S. *)
Section Bundles.
Variables (X N : finType) (named : N -> {set X}).
Definition in_bundle (e : X + N) : {set {set X}} :=
  match e with inl x => [set A : {set X} | x \in A] | inr i => [set A : {set X} | ~~ [disjoint A & named i]] end.
Definition bundles_figure (R : realFieldType) (P : finType) := @events_figure R P [finType of {set X}] [finType of X + N] in_bundle.
End Bundles.

(** Households: a unit is a household, what it has is what each member has, and events are "somebody has x". *)
Section Households.
Variables (R : realFieldType) (P M X : finType).
Notation unit_has := [finType of {ffun M -> {set X}}].
Definition somebody (x : X) : {set unit_has} := [set b : unit_has | [exists m, x \in b m]].
Definition member_has (m : M) (x : X) : {set unit_has} := [set b : unit_has | x \in b m].

(* What is believed of a member is at most what is believed of the household, however what members have goes together. *)
Theorem of_a_member (p : world P unit_has -> R) t m x : (forall w, 0 <= p w) -> belief p t (member_has m x) <= belief p t (somebody x).
Proof. by move=> p0; apply: belief_le => //; apply/subsetP=> b; rewrite !inE => has; apply/existsP; exists m. Qed.

Variables (bound : X -> R) (candidates : {set P} -> seq {set P}) (coin : nat -> R) (tests : nat) (keep show : R -> R).
Variable strata : seq {set P}.
Hypothesis bound_ge0 : forall e, 0 <= bound e.
Hypothesis coin01 : forall n, 0 <= coin n <= 1.
Hypothesis keep_down : forall T, 0 <= T -> 0 <= keep T <= T.
Hypothesis show_down : forall T, 0 <= T -> 0 <= show T <= T.
Hypothesis strata_apart : pairwise (fun A B : {set P} => [disjoint A & B]) strata.
Notation weight_shown := (weight_shown somebody bound candidates coin tests keep show strata).

Theorem member_bound (Z : eqType) (view : published R P unit_has -> Z) prior runs z t C m x :
  (forall w, 0 <= prior w) -> C \in strata -> t \in C -> 0 < total (weight_shown view prior runs z) ->
  (forall u w, u \in C -> prior (exchange t u w) = prior w) ->
  (forall w D, prior w != 0 -> D \in strata -> keeps bound show (count_events somebody D w) #|D| 1) ->
  belief (weight_shown view prior runs z) t (member_has m x) <= bound x.
Proof.
move=> prior_ge0 CS tC some no_link feasible; apply: le_trans (of_a_member _ _ _ _) _.
  by move=> w; rewrite mulr_ge0 // sumr_ge0 // => run _; exact: run_chance_ge0.
exact: (shown_bound (event := somebody)) CS tC some no_link feasible.
Qed.

End Households.
