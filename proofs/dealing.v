(* Blind buckets and matched groups: people are dealt to slots by coins, and all worlds that fit a release are equally likely.
   docs/guarantees.md, "Why blind buckets hold against the engineer", "Why matched groups hold against the engineer". *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra zify.
From Sfumato Require Import exchange.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Dealing.
Variables (R : realFieldType) (P V I : finType) (value : I -> V).   (* people, values, slots: the plan says which value a slot takes *)
Notation world := (world P V).
Notation deal := {ffun P -> I}.
Implicit Types (w : world) (d : deal) (s : {perm P}).

(* In a world, the ways to deal all people to slots of their own value, nobody to another's. *)
Definition deals w : {set deal} := [set d : deal | injectiveb d && [forall p, value (d p) == w p]].

(* People changed places, and what they have with them. *)
Definition moved s w : world := [ffun p => w (s p)].
Definition moved_deal s d : deal := [ffun p => d (s p)].

Lemma moved_dealK s : cancel (moved_deal s) (moved_deal s^-1).
Proof. by move=> d; apply/ffunP=> p; rewrite !ffunE permKV. Qed.

Lemma moved_dealVK s : cancel (moved_deal s^-1) (moved_deal s).
Proof. by move=> d; apply/ffunP=> p; rewrite !ffunE permK. Qed.

Lemma moved_deal_inj s : injective (moved_deal s).
Proof. exact: can_inj (moved_dealK s). Qed.

Lemma moved_deals s w d : (moved_deal s d \in deals (moved s w)) = (d \in deals w).
Proof.
rewrite !inE; congr (_ && _).
  apply/injectiveP/injectiveP => inj p q; last by rewrite !ffunE => /inj/perm_inj.
  by move=> same; apply: (@perm_inj _ (s^-1)%g); apply: inj; rewrite !ffunE !permKV.
apply/forallP/forallP => fit p; last by rewrite !ffunE.
by have := fit ((s^-1)%g p); rewrite !ffunE permKV.
Qed.

Lemma card_deals s w : #|deals (moved s w)| = #|deals w|.
Proof.
rewrite -(card_imset (deals w) (@moved_deal_inj s)); apply: eq_card => d.
rewrite -{1}(moved_dealVK s d) moved_deals; apply/idP/imsetP => [fit|[d' fit ->]]; last by rewrite moved_dealK.
by exists (moved_deal s^-1 d); rewrite ?moved_dealVK.
Qed.

(** Blind buckets: a slot belongs to a bucket, and the release shows everybody's bucket and each bucket's values. *)
Section Blind.
Variables (G : finType) (bucket : I -> G).
Implicit Types (g : {ffun P -> G}).

(* The orders of people that turn this world into this release. *)
Definition orders g w : {set deal} := [set d in deals w | [forall p, bucket (d p) == g p]].
Definition blind_chance g w : R := #|orders g w|%:R / #|deals w|%:R.

(* Whatever two worlds fit, if one is the other with people of the same buckets moved, as many orders lead to the release. *)
Theorem orders_alike g w s : (forall p, g (s p) = g p) -> #|orders g (moved s w)| = #|orders g w|.
Proof.
move=> stays; rewrite -(card_imset (orders g w) (@moved_deal_inj s)); apply: eq_card => d.
have same d' : (moved_deal s d' \in orders g (moved s w)) = (d' \in orders g w).
  rewrite ![_ \in orders _ _]inE moved_deals; congr (_ && _); apply/forallP/forallP => fit p.
    by have := fit ((s^-1)%g p); rewrite !ffunE permKV -[g ((s^-1)%g p)]stays permKV.
  by rewrite !ffunE (eqP (fit (s p))) stays.
rewrite -{1}(moved_dealVK s d) same; apply/idP/imsetP => [fit|[d' fit ->]]; last by rewrite moved_dealK.
by exists (moved_deal s^-1 d); rewrite ?moved_dealVK.
Qed.

Lemma exchange_moved t u w : exchange t u w = moved (tperm t u) w.
Proof. by apply/ffunP=> p; rewrite !ffunE. Qed.

(* Slots of a bucket with a value of S: that is how often the bucket shows one. *)
Definition slots b (S : {set V}) : {set I} := [set i | (bucket i == b) && (value i \in S)].

Lemma order_counts g w d b S : #|P| = #|I| -> d \in orders g w -> count [set p | g p == b] S w = #|slots b S|.
Proof.
move=> full; rewrite !inE => /andP[/andP[/injectiveP inj /forallP fit] /forallP there].
rewrite /count -(card_imset _ inj); apply: eq_card => i; rewrite !inE.
have [e _ dK] := inj_card_bij inj (eq_leq (esym full)).
apply/imsetP/andP => [[p]|[ib iS]]; first by rewrite !inE -(eqP (there p)) -(eqP (fit p)) => /andP[] ? ? ->.
by exists (e i); rewrite ?dK // !inE -(eqP (there _)) -(eqP (fit _)) !dK ib.
Qed.

(** **Theorem.** To whom all worlds are equally likely before (or as likely as after an exchange in the bucket), the belief is exactly
    (count in the bucket) / (size of the bucket). *)
Theorem blind_exact (prior : world -> R) g t (S : {set V}) : #|P| = #|I| ->
  (forall u w, g u = g t -> prior (exchange t u w) = prior w) ->
  0 < total (fun w => prior w * blind_chance g w) ->
  belief (fun w => prior w * blind_chance g w) t S = #|slots (g t) S|%:R / #|[set p | g p == g t]|%:R.
Proof.
move=> full no_link some; apply: belief_exact => //; first by rewrite inE.
- move=> w; rewrite !mulf_eq0 !negb_or pnatr_eq0 -lt0n => /and3P[_ /card_gt0P[d]] /order_counts-> //.
- move=> u w; rewrite inE => /eqP gu; rewrite no_link // exchange_moved /blind_chance card_deals orders_alike // => p.
  by case: tpermP => [->|->|].
Qed.

End Blind.

(** Matched groups: a slot belongs to a pool; pools get labels in a secret random order; people are matched by whatever looks at quasi
    values and labels, so that every group has one person of each label. *)
Section Matched.
Variables (M : finType) (pool : I -> M) (G : finType) (groups : {ffun P -> M} -> {ffun P -> G}).
Implicit Types (order : {perm M}) (label : {ffun P -> M}).
Hypothesis one_of_each : forall label (g : G) m, #|[set p | (groups label p == g) && (label p == m)]| = 1%N.

(* The coins: an order of the pools, and a deal. *)
Definition labelled label w : {set {perm M} * deal} := [set c : {perm M} * deal | (c.2 \in deals w) && [forall p, c.1 (pool (c.2 p)) == label p]].
Definition label_chance label w : R := #|labelled label w|%:R / (#|{perm M}| * #|deals w|)%:R.

(* The person of a group who has a label. *)
Definition who label g m : option P := [pick p | (groups label p == g) && (label p == m)].

Lemma whoP label g m p : groups label p = g -> label p = m -> who label g m = Some p.
Proof.
move=> pg pm; rewrite /who; case: pickP => [q /andP[/eqP qg /eqP qm]|/(_ p)]; last by rewrite pg pm !eqxx.
have /eqP/cards1P[x /setP one] := one_of_each label g m.
have := one q; have := one p; rewrite !inE pg pm qg qm !eqxx /= => /esym/eqP-> /esym/eqP->.
by [].
Qed.

(* In every group the people with labels a and b change places. *)
Definition pools_changed label a b (p : P) : P := odflt p (who label (groups label p) (tperm a b (label p))).

Lemma pools_changedP label a b p :
  groups label (pools_changed label a b p) = groups label p /\ label (pools_changed label a b p) = tperm a b (label p).
Proof.
rewrite /pools_changed /who; case: pickP => [q /andP[/eqP-> /eqP->] //|none].
have := one_of_each label (groups label p) (tperm a b (label p)); rewrite (_ : [set _ | _] = set0) ?cards0 //.
by apply/setP=> q; rewrite !inE none.
Qed.

Lemma pools_changedK label a b : involutive (pools_changed label a b).
Proof.
move=> p; have [g1 l1] := pools_changedP label a b p.
rewrite {1}/pools_changed g1 l1 tpermK (@whoP _ _ _ p) //.
Qed.

Definition change label a b : {perm P} := perm (inv_inj (pools_changedK label a b)).

Lemma labelled_alike label a b w : #|labelled label (moved (change label a b) w)| = #|labelled label w|.
Proof.
set s := change label a b.
pose f (c : {perm M} * deal) := (c.1 * tperm a b, moved_deal s c.2)%g.
have f_inj : injective f by move=> [o d] [o' d'] [/mulIg-> /moved_deal_inj->].
rewrite -(card_imset (labelled label w) f_inj); apply: eq_card => c.
have same c' : (f c' \in labelled label (moved s w)) = (c' \in labelled label w).
  case: c' => o d; rewrite ![_ \in labelled _ _]inE /= moved_deals; congr (_ && _); apply/forallP/forallP => fit p.
    have [_ l1] := pools_changedP label a b p; have sp q : s q = pools_changed label a b q by rewrite permE.
    have := fit (s p); rewrite !ffunE permM !sp pools_changedK l1 => /eqP same.
    by apply/eqP; apply: (@perm_inj _ (tperm a b)).
  have [_ l1] := pools_changedP label a b p; have sp q : s q = pools_changed label a b q by rewrite permE.
  by rewrite !ffunE permM (eqP (fit _)) sp l1 tpermK.
pose f' (c : {perm M} * deal) := (c.1 * tperm a b, moved_deal s^-1 c.2)%g.
have fK : cancel f f' by move=> [o d]; rewrite /f /f' /= -mulgA tperm2 mulg1 moved_dealK.
have f'K : cancel f' f by move=> [o d]; rewrite /f /f' /= -mulgA tperm2 mulg1 moved_dealVK.
rewrite -{1}(f'K c) same; apply/idP/imsetP => [fit|[c' fit ->]]; last by rewrite fK.
by exists (f' c); rewrite ?f'K.
Qed.

Lemma labels_alike (prior : world -> R) label t (S : {set V}) c : (forall s w, prior (moved s w) = prior w) ->
  (forall w, prior w * label_chance label w != 0 -> count [set p | groups label p == groups label t] S w = c) ->
  #|[set p | groups label p == groups label t]|%:R * exchange.has (fun w => prior w * label_chance label w) t S
  = c%:R * total (fun w => prior w * label_chance label w).
Proof.
move=> no_link counted; apply: (has_by_symmetry (swap := fun u w => moved (change label (label t) (label u)) w)) => // u.
rewrite inE => /eqP gu; split=> [w|w|w].
- by apply/ffunP=> p; rewrite !ffunE !permE pools_changedK.
- by rewrite ffunE permE /pools_changed tpermL (@whoP _ _ _ u).
- by rewrite no_link /label_chance labelled_alike card_deals.
Qed.

(** **Theorem.** Whoever sees the groups, and how many people of each have what, believes that t has one of S with exactly the share of
    her group: so does somebody who sees the labels too, and the groups are a mixture of these. *)
Definition group_chance (g : {ffun P -> G}) w : R := \sum_(label | groups label == g) label_chance label w.

Theorem matched_exact (prior : world -> R) (g : {ffun P -> G}) t (S : {set V}) c : (forall w, 0 <= prior w) ->
  (forall s w, prior (moved s w) = prior w) ->
  (forall w, prior w * group_chance g w != 0 -> count [set p | g p == g t] S w = c) ->
  0 < total (fun w => prior w * group_chance g w) ->
  belief (fun w => prior w * group_chance g w) t S = c%:R / #|[set p | g p == g t]|%:R.
Proof.
move=> prior_ge0 no_link counted some; apply: belief_share => //; first by rewrite inE.
have chance_ge0 label w : 0 <= label_chance label w by rewrite divr_ge0 ?ler0n.
have part (A : pred world) : \sum_(w | A w) prior w * group_chance g w
    = \sum_(label | groups label == g) \sum_(w | A w) prior w * label_chance label w.
  by rewrite exchange_big /=; apply: eq_bigr => w _; rewrite mulr_sumr.
rewrite /exchange.has /total !part !mulr_sumr; apply: eq_bigr => label /eqP is_g.
rewrite -is_g; apply: labels_alike => // w; rewrite is_g => nonzero; apply: counted.
move: nonzero; rewrite mulf_eq0 negb_or => /andP[p0 nonzero]; rewrite mulf_eq0 negb_or p0 /= /group_chance.
rewrite (bigD1 label) ?is_g //= gt_eqF // ltr_spaddl //; first by rewrite lt_def nonzero chance_ge0.
by apply: sumr_ge0 => l _; exact: chance_ge0.
Qed.

End Matched.

End Dealing.
