create function textrawl.type_words() returns jsonb
language sql immutable parallel safe
begin atomic
    -- Words of English, Spanish, German and French: in the singular, in lower case and without accents.
    select jsonb_object_agg_unique(word, list.entity_type)
    from (values
        ('person', 'person people human individual user contact employee colleague coworker friend customer member developer
            engineer programmer designer author manager boss student teacher professor researcher scientist doctor
            patient nurse lawyer actor artist musician singer writer parent mother father child son daughter brother
            sister wife husband partner neighbour neighbor candidate speaker character hero leader founder owner
            participant stakeholder agent assistant persona usuario cliente contacto empleado amigo autor medico
            profesor alumno miembro mensch benutzer nutzer kunde kontakt mitarbeiter mitarbeiterin kollege kollegin
            freund freundin arzt lehrer lehrerin schuler personne utilisateur collegue ami amie auteur medecin
            enseignant eleve employe membre'),
        ('organization', 'organization organisation org company companies corporation business businesses institution university
            universities school college team department division agency agencies startup vendor client supplier provider
            employer bank hospital club committee government ministry authority nonprofit charity band group association
            union brand publisher empresa organizacion equipo universidad escuela banco gobierno proveedor firma
            unternehmen organisationen universitat schule mannschaft abteilung behorde verein verband lieferant
            krankenhaus gruppe entreprise societe equipe universite ecole banque gouvernement fournisseur groupe'),
        ('location', 'location place city cities country countries region state province town village address addresses room
            building venue office district street house home airport station park river mountain lake island continent
            planet restaurant hotel shop store warehouse site lugar ciudad pais ubicacion direccion edificio oficina
            calle playa ort stadt land adresse gebaude raum buro strasse haus standort dorf insel lieu ville pays
            batiment bureau rue maison quartier'),
        ('project', 'project repo repository repositories codebase app application product service library libraries package
            component module tool software program system platform framework feature task todo ticket story epic
            milestone initiative campaign website api database server script plugin extension device machine environment
            pipeline deployment release workflow proyecto repositorio aplicacion producto servicio herramienta tarea
            sistema sitio projekt anwendung produkt dienst werkzeug aufgabe programm bibliothek gerat merkmal vorhaben
            projet depot produit outil tache systeme logiciel bibliotheque fonctionnalite'),
        ('preference', 'preference preferences setting like dislike habit taste favorite favourite preferencia gusto vorliebe
            gewohnheit einstellung gout habitude'),
        ('fact', 'fact event meeting session incident decision bug issue error problem conversation appointment deadline trip
            journey interview call experience note observation statement claim transaction purchase payment order
            birthday holiday anniversary conference accident outage test result measurement hecho evento reunion sesion
            incidente problema viaje cita tatsache ereignis veranstaltung termin treffen sitzung entscheidung vorfall
            fehler reise gesprach fait evenement rencontre seance erreur probleme voyage'),
        ('concept', 'concept idea topic subject theme term category document file book article paper report page animal pet dog
            cat plant food dish recipe drink language skill technology method rule law policy goal plan strategy
            standard protocol pattern algorithm model theory disease medicine vehicle car object item thing game film
            movie song color material resource concepto tema documento archivo libro planta comida idioma konzept
            begriff idee thema dokument datei buch tier pflanze sprache regel gesetz ziel fahrzeug gegenstand sujet
            fichier livre plante langue regle objet')) as list(entity_type, words),
        regexp_split_to_table(list.words, '\s+') word;
end;

comment on function textrawl.type_words is
    'Usual words for types of entities, each with the nearest of the seven types: {word: type}. '
    'Example: select textrawl.type_words() ->> ''team'';';
